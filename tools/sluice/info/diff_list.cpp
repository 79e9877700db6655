// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/info/diff_list.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>

#include <xxhash.h>

#include "tools/common/file_mode.h"
#include "tools/sluice/unpack/decode_assets.h"

namespace sluice {
namespace {

// A 128-bit hash of bytes or of checksums.
using Hash = std::pair<uint64_t, uint64_t>;

class Hasher {
public:
    Hasher() : m_state(XXH3_createState(), XXH3_freeState)
    {
        if (m_state == nullptr) throw std::bad_alloc();
        XXH3_128bits_reset(m_state.get());
    }
    void add(const void* bytes, size_t size) { XXH3_128bits_update(m_state.get(), bytes, size); }
    Hash hash() const
    {
        const XXH128_hash_t hash = XXH3_128bits_digest(m_state.get());
        return {hash.high64, hash.low64};
    }

private:
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> m_state;
};

// Hashes the decoded bytes of assets. Damaged assets get no hash.
class HashSink : public AssetSink {
public:
    explicit HashSink(std::map<uint32_t, Hash>& hashes) : m_hashes(hashes) {}

    void begin(uint32_t asset) override
    {
        m_asset = asset;
        m_hasher.emplace();
    }
    void write(uint64_t, const uint8_t* bytes, uint32_t size) override
    {
        m_hasher->add(bytes, size);
    }
    void end() override { m_hashes[m_asset] = m_hasher->hash(); }
    void discard() override {}

private:
    std::map<uint32_t, Hash>& m_hashes;
    uint32_t m_asset = 0;
    std::optional<Hasher> m_hasher;
};

// An archive, and what is known of the content of its assets.
class Side {
public:
    explicit Side(const Container& archive)
        : m_archive(archive), m_left(outputLimit(archive.file().size(), 0))
    {
    }

    const Container& archive() const { return m_archive; }
    ContainerAsset asset(uint32_t number) const { return m_archive.asset(number); }
    // Returns a hash of the sizes, offsets and checksums of the asset's tiles; nullopt if their
    // records are bad. Equal hashes mean equal content. Different hashes decide nothing, since
    // equal content may be cut into different tiles.
    std::optional<Hash> cutOf(uint32_t number) const
    {
        try {
            Hasher hasher;
            const SluiceArchiveAsset asset = m_archive.archiveAsset(number);
            m_archive.forEachOwnTile(number, [&](uint32_t, const ContainerTile& tile) {
                const uint64_t values[] = {tile.size, tile.checksum,
                                           asset.tilesOffset - tile.outputOffset};
                hasher.add(values, sizeof values);
            });
            return hasher.hash();
        } catch (const Failure&) {
            return std::nullopt;
        }
    }
    // Marks an asset as one to decode. Does nothing if all marked assets together would exceed the
    // limit of decoded bytes.
    void want(uint32_t number)
    {
        const uint64_t size = asset(number).size;
        if (size > m_left) return;
        m_left -= size;
        m_wanted.push_back(number);
    }
    void decode(const CommonOptions& common)
    {
        std::sort(m_wanted.begin(), m_wanted.end());
        m_wanted.erase(std::unique(m_wanted.begin(), m_wanted.end()), m_wanted.end());
        if (m_wanted.empty()) return;
        const ToolDevice device({"cpu", "", 0}, common);
        HashSink sink(m_hashes);
        Progress progress("comparing", 0, common.quiet);
        AssetDecoder(m_archive, device, sink, progress, true).run(m_wanted);
        progress.clear();
    }
    std::optional<Hash> contentOf(uint32_t number) const
    {
        const auto found = m_hashes.find(number);
        return found == m_hashes.end() ? std::nullopt : std::optional<Hash>(found->second);
    }

private:
    const Container& m_archive;
    uint64_t m_left;
    std::vector<uint32_t> m_wanted;
    std::map<uint32_t, Hash> m_hashes;
};

// Finds pairs of a removed and an added asset with the same size and the same `key`, and lists each
// pair as one renamed asset instead.
template <class Key>
void joinRenamed(const Side& old, const Side& now, std::vector<uint32_t>& removed,
                 std::vector<uint32_t>& added, Key key, ArchiveChanges& changes)
{
    std::multimap<std::tuple<uint64_t, Hash>, uint32_t> known;
    const auto sizedKey = [&](const Side& side, uint32_t number) {
        const uint64_t size = side.asset(number).size;
        const std::optional<Hash> hash = size != 0 ? key(side, number) : std::nullopt;
        return hash ? std::optional(std::tuple(size, *hash)) : std::nullopt;
    };
    for (const uint32_t number : removed)
        if (const auto one = sizedKey(old, number)) known.emplace(*one, number);
    std::vector<uint32_t> left, found;
    for (const uint32_t number : added) {
        const auto one = sizedKey(now, number);
        const auto match = one ? known.find(*one) : known.end();
        if (match == known.end()) {
            left.push_back(number);
            continue;
        }
        const uint64_t size = now.asset(number).size;
        changes.renamed.push_back(
            {now.asset(number).name, old.asset(match->second).name, size, size});
        found.push_back(match->second);
        known.erase(match);
    }
    added = left;
    std::sort(found.begin(), found.end());
    left.clear();
    std::set_difference(removed.begin(), removed.end(), found.begin(), found.end(),
                        std::back_inserter(left));
    removed = left;
}

// Marks the removed and added assets to decode for comparison: those whose size occurs on both
// sides, since no other asset can have been renamed.
void wantEqualSizes(Side& old, Side& now, const std::vector<uint32_t>& removed,
                    const std::vector<uint32_t>& added)
{
    std::map<uint64_t, uint32_t> sizes; // bit 0: removed, bit 1: added
    for (const uint32_t number : removed)
        sizes[old.asset(number).size] |= 1;
    for (const uint32_t number : added)
        sizes[now.asset(number).size] |= 2;
    sizes.erase(0);
    for (const uint32_t number : removed)
        if (sizes[old.asset(number).size] == 3) old.want(number);
    for (const uint32_t number : added)
        if (sizes[now.asset(number).size] == 3) now.want(number);
}

} // namespace

ArchiveChanges compareArchives(const Container& oldArchive, const Container& nowArchive,
                               const std::vector<uint32_t>& like, uint32_t none,
                               const CommonOptions& common)
{
    Side old(oldArchive), now(nowArchive);
    ArchiveChanges changes;
    std::vector<uint32_t> removed, added, unsure;
    std::vector<char> isKept(oldArchive.assetCount(), 0);
    const auto change = [&](uint32_t number) {
        changes.changed.push_back(
            {now.asset(number).name, "", now.asset(number).size, old.asset(like[number]).size});
    };
    for (uint32_t number = 0; number < like.size(); ++number) {
        const uint32_t before = like[number];
        if (before == none) {
            added.push_back(number);
            continue;
        }
        isKept[before] = 1;
        const SluiceArchiveAsset a = oldArchive.archiveAsset(before),
                                 b = nowArchive.archiveAsset(number);
        if (old.asset(before).size != now.asset(number).size || a.type != b.type ||
            isExecutable(a) != isExecutable(b)) {
            change(number);
            continue;
        }
        const std::optional<Hash> cut = old.cutOf(before);
        if (cut && cut == now.cutOf(number))
            ++changes.same;
        else
            unsure.push_back(number);
    }
    for (uint32_t number = 0; number < isKept.size(); ++number)
        if (isKept[number] == 0) removed.push_back(number);
    joinRenamed(
        old, now, removed, added,
        [](const Side& side, uint32_t number) { return side.cutOf(number); }, changes);
    for (const uint32_t number : unsure) {
        old.want(like[number]);
        now.want(number);
    }
    wantEqualSizes(old, now, removed, added);
    old.decode(common);
    now.decode(common);
    for (const uint32_t number : unsure) {
        const std::optional<Hash> before = old.contentOf(like[number]),
                                  after = now.contentOf(number);
        changes.unread += before && after ? 0 : 1;
        if (before && before == after)
            ++changes.same;
        else
            change(number);
    }
    joinRenamed(
        old, now, removed, added,
        [](const Side& side, uint32_t number) { return side.contentOf(number); }, changes);
    for (const uint32_t number : added)
        changes.added.push_back({now.asset(number).name, "", now.asset(number).size, 0});
    for (const uint32_t number : removed)
        changes.removed.push_back({old.asset(number).name, "", 0, old.asset(number).size});
    for (auto* const list : {&changes.changed, &changes.renamed})
        std::sort(list->begin(), list->end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
    return changes;
}

void printChanges(const ArchiveChanges& changes, std::FILE* out)
{
    for (const auto& one : changes.added)
        std::fprintf(out, "added    %s (%s)\n", printable(one.name).c_str(),
                     sizeText(one.size).c_str());
    for (const auto& one : changes.removed)
        std::fprintf(out, "removed  %s (%s)\n", printable(one.name).c_str(),
                     sizeText(one.oldSize).c_str());
    for (const auto& one : changes.changed)
        std::fprintf(out, "changed  %s (%s, was %s)\n", printable(one.name).c_str(),
                     sizeText(one.size).c_str(), sizeText(one.oldSize).c_str());
    for (const auto& one : changes.renamed)
        std::fprintf(out, "renamed  %s -> %s (%s)\n", printable(one.oldName).c_str(),
                     printable(one.name).c_str(), sizeText(one.size).c_str());
    std::fprintf(out, "%zu added, %zu removed, %zu changed, %zu renamed, %llu the same\n",
                 changes.added.size(), changes.removed.size(), changes.changed.size(),
                 changes.renamed.size(), wide(changes.same));
}

void printChangesJson(const ArchiveChanges& changes, const std::string& old, const std::string& now)
{
    std::printf("{\"schemaVersion\": 1, \"old\": %s, \"new\": %s", jsonText(old).c_str(),
                jsonText(now).c_str());
    const struct {
        const char* name;
        const std::vector<ArchiveChanges::Asset>& list;
        bool hasOld, hasNew, isRenamed;
    } lists[] = {{"added", changes.added, false, true, false},
                 {"removed", changes.removed, true, false, false},
                 {"changed", changes.changed, true, true, false},
                 {"renamed", changes.renamed, false, true, true}};
    for (const auto& one : lists) {
        std::printf(",\n \"%s\": [", one.name);
        for (const ArchiveChanges::Asset& asset : one.list) {
            std::printf("%s\n  {\"name\": %s", &asset == &one.list[0] ? "" : ",",
                        jsonText(asset.name).c_str());
            if (one.isRenamed) std::printf(", \"oldName\": %s", jsonText(asset.oldName).c_str());
            if (one.hasNew) std::printf(", \"size\": %llu", wide(asset.size));
            if (one.hasOld) std::printf(", \"oldSize\": %llu", wide(asset.oldSize));
            std::printf("}");
        }
        std::printf("]");
    }
    std::printf(",\n \"same\": %llu\n}\n", wide(changes.same));
}

} // namespace sluice
