// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/archive_writer.h"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

template <class Call>
SluiceStatus attempt(void* user, const Call& call)
{
    Transfer& transfer = *static_cast<Transfer*>(user);
    try {
        call(transfer);
        return SLUICE_OK;
    } catch (const Failure& thrown) {
        transfer.failure = thrown;
        return SLUICE_ERROR_IO;
    }
}

} // namespace

SluiceStatus Transfer::read(void* user, void* bytes, size_t size)
{
    return attempt(user, [&](Transfer& transfer) { transfer.onRead(bytes, size); });
}

SluiceStatus Transfer::write(void* user, uint64_t offset, const void* bytes, size_t size)
{
    return attempt(user, [&](Transfer& transfer) { transfer.onWrite(offset, bytes, size); });
}

SluiceStatus createArchive(SluiceArchiveWriterInfo info, Transfer& transfer, ArchiveWriter& writer)
{
    info.write = Transfer::write;
    info.writeUser = &transfer;
    SluiceArchiveWriter created = nullptr;
    const SluiceStatus status = sluiceCreateArchiveWriter(&info, &created);
    writer.reset(created);
    return status;
}

void checkPacking(const Transfer& transfer, SluiceStatus status, const std::string& what)
{
    transfer.rethrow();
    if (status == SLUICE_ERROR_OUT_OF_MEMORY)
        throw Failure{exitIo, what + ": out of memory or threads"};
    if (status != SLUICE_OK) throw Failure{exitUsage, what + ": " + sluiceGetStatusText(status)};
}

void sortSources(std::vector<ArchiveSource>& sources)
{
    std::sort(sources.begin(), sources.end(),
              [](const ArchiveSource& a, const ArchiveSource& b) { return a.name < b.name; });
    for (size_t i = 1; i < sources.size(); ++i) {
        if (sources[i - 1].name == sources[i].name) {
            throw Failure{exitUsage, sources[i - 1].path + " and " + sources[i].path +
                                         ": both are named '" + sources[i].name + "'"};
        }
    }
}

Bytes packInMemory(const Bytes& content, const SluiceArchiveWriterInfo& info,
                   SluiceArchiveAssetInfo asset)
{
    Bytes archive;
    const uint8_t* from = content.data();
    Transfer transfer;
    transfer.onRead = [&](void* bytes, size_t size) {
        std::memcpy(bytes, from, size);
        from += size;
    };
    transfer.onWrite = [&](uint64_t offset, const void* bytes, size_t size) {
        archive.resize(std::max(archive.size(), size_t(offset) + size));
        std::memcpy(archive.data() + offset, bytes, size);
    };
    asset.name = "input";
    asset.nameLength = 5;
    asset.size = content.size();
    asset.read = Transfer::read;
    asset.readUser = &transfer;
    ArchiveWriter writer(nullptr, sluiceDestroyArchiveWriter);
    SluiceStatus status = createArchive(info, transfer, writer);
    if (status == SLUICE_OK) status = sluiceAddArchiveAsset(writer.get(), &asset);
    if (status == SLUICE_OK) status = sluiceFinishArchive(writer.get(), nullptr);
    if (status != SLUICE_OK)
        throw Failure{exitCodeOf(status), std::string("packing: ") + sluiceGetStatusText(status)};
    return archive;
}

} // namespace sluice
