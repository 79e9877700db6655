// SPDX-License-Identifier: MIT OR Apache-2.0
// A share is a group of small files that have tiles in common. A file joins the current share of
// its kind (type and options) until that is full, or until a name says that the share ends.
#include "tools/sluice/pack/pack_shares.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "tools/sluice/info/asset_summary.h"
#include "tools/common/codecs.h"
#include "formats/archive_layout.h"
#include "tools/sluice/pack/textures.h"

namespace sluice {
namespace {

constexpr uint64_t kSmall = 4;        // files that share a tile are smaller than 1/kSmall of it
constexpr uint32_t kEndingNames = 64; // one name in this many ends a share that is half full

// Types that filters know well. Such files become smaller by filters of their own than by sharing a
// tile. (.md3 is missing: sharing makes these files a sixth smaller.)
constexpr std::string_view kFilteredTypes[] = {"tga", "wav", "bsp", "dds", "glb", "ktx2"};

// Returns the most bytes of a share, a group of small files that are packed together. They fit into
// one tile, unless filters cut it into several.
uint64_t shareBytes(const AssetOptions& options)
{
    return (codecNamed(options.codec).options & kTileSizeOption) != 0 ? tileBytes(options)
                                                                      : SLUICE_GD_TILE_BYTES;
}

bool mayShare(const ArchiveSource& file, const AssetOptions& options)
{
    const std::string type = typeOf(file.name);
    const bool isFiltered = mayFilter(options) &&
                            std::find(std::begin(kFilteredTypes), std::end(kFilteredTypes), type) !=
                                std::end(kFilteredTypes);
    const bool isImage = options.images && (hasPictureName(file.name) || type == "ktx2" ||
                                            type == "dds" || type == "ktx");
    const bool isModel = options.codec == "float" && type == "safetensors";
    return options.share && file.size != 0 && file.size < shareBytes(options) / kSmall &&
           !isFiltered && !isImage && !isModel;
}

struct Share {
    std::vector<size_t> members;
    uint64_t bytes = 0;
};

class Sharer {
public:
    explicit Sharer(std::vector<ArchiveSource>& files) : m_files(files) {}

    void add(size_t number, const AssetOptions& options);
    void finish();

private:
    void close(Share& share);

    std::vector<ArchiveSource>& m_files;
    std::map<std::string, Share> m_open;            // key: kind; value: the share that files join
    std::map<size_t, std::vector<size_t>> m_shares; // key: index of a share's first file
};

void Sharer::close(Share& share)
{
    if (share.members.size() > 1) m_shares[share.members[0]] = std::move(share.members);
    share = {};
}

void Sharer::add(size_t number, const AssetOptions& options)
{
    const ArchiveSource& file = m_files[number];
    Share& share = m_open[typeOf(file.name) + '\n' + encodingText(options)];
    const uint64_t most = shareBytes(options);
    if (alignUp(share.bytes, kPartAlignment) + file.size > most) close(share);
    share.members.push_back(number);
    share.bytes = alignUp(share.bytes, kPartAlignment) + file.size;
    const bool ends = xxh32(file.name.data(), file.name.size(), 0) % kEndingNames == 0;
    if (ends && share.bytes >= most / 2) close(share);
}

void Sharer::finish()
{
    for (auto& [kind, share] : m_open)
        close(share);
    std::vector<char> isPlaced(m_files.size(), 0);
    std::vector<ArchiveSource> ordered;
    ordered.reserve(m_files.size());
    uint32_t count = 0;
    for (size_t i = 0; i < m_files.size(); ++i) {
        const auto found = m_shares.find(i);
        if (found == m_shares.end()) {
            if (isPlaced[i] == 0) ordered.push_back(std::move(m_files[i]));
            continue;
        }
        // The members of a share must be sorted by name, in whatever order the files are stored.
        std::vector<size_t>& members = found->second;
        std::sort(members.begin(), members.end(),
                  [&](size_t a, size_t b) { return m_files[a].name < m_files[b].name; });
        for (const size_t member : members) {
            m_files[member].share = count;
            isPlaced[member] = 1;
            ordered.push_back(std::move(m_files[member]));
        }
        ++count;
    }
    m_files.swap(ordered);
}

} // namespace

void shareTiles(std::vector<ArchiveSource>& files,
                const std::function<AssetOptions(const ArchiveSource&)>& optionsOf)
{
    Sharer sharer(files);
    for (size_t i = 0; i < files.size(); ++i) {
        const AssetOptions options = optionsOf(files[i]);
        if (mayShare(files[i], options)) sharer.add(i, options);
    }
    sharer.finish();
}

} // namespace sluice
