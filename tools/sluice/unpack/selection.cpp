// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/unpack/selection.h"

#include <algorithm>
#include <numeric>

#include "tools/common/glob.h"
#include "tools/common/weights.h"
#include "tools/common/zstd/zstd_file.h"

namespace sluice {
namespace {

// Returns the number of the first asset whose name is not less than `name`.
uint32_t lowerBound(const Container& container, const std::string& name)
{
    uint32_t first = 0;
    for (uint32_t count = container.assetCount(); count != 0;) {
        const uint32_t half = count / 2;
        if (container.asset(first + half).name < name) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

// Marks the asset `name`, or all assets below the folder `name`, which follow each other, since
// assets are sorted by name. Returns false if there are none.
bool takeName(const Container& container, std::string name, std::vector<char>& taken)
{
    while (name.compare(0, 2, "./") == 0)
        name.erase(0, 2);
    while (name.size() > 1 && name.back() == '/')
        name.pop_back();
    const uint32_t file = lowerBound(container, name);
    if (file < taken.size() && container.asset(file).name == name) {
        taken[file] = 1;
        return true;
    }
    const std::string folder = name + "/";
    bool any = false;
    for (uint32_t i = lowerBound(container, folder); i < taken.size(); ++i) {
        if (container.asset(i).name.compare(0, folder.size(), folder) != 0) break;
        taken[i] = 1;
        any = true;
    }
    return any;
}

// Returns whether the word is the path of a packed file. If the file is replaced by another kind of
// file before it is opened again, opening it fails.
bool isPackedFile(const std::string& word)
{
    if (!isFile(word)) return false;
    const InputFile file(word, InputKind::file);
    return Container::recognises(file) || WeightFile::recognises(file) ||
           ZstdFile::recognises(file);
}

std::unique_ptr<Container> openContainer(std::unique_ptr<InputFile> file)
{
    if (WeightFile::recognises(*file))
        throw Failure{exitUsage, file->name() + ": a .safetensors file goes alone"};
    if (ZstdFile::recognises(*file))
        throw Failure{exitUsage, file->name() + ": Zstandard files go without others"};
    return std::make_unique<Container>(std::move(file));
}

void select(std::vector<PackedInput>& inputs, const Selection& selection)
{
    std::string files;
    std::vector<std::vector<char>> taken;
    for (const PackedInput& input : inputs) {
        const std::string& file = input.container->file().name();
        if (!input.container->isArchive())
            throw Failure{exitUsage,
                          file + ": is no archive, so there are no names to choose from"};
        files += (files.empty() ? "" : ", ") + file;
        taken.emplace_back(input.assets.size(), 0);
    }
    for (const std::string& name : selection.names) {
        bool any = false;
        for (size_t i = 0; i < inputs.size(); ++i)
            any = takeName(*inputs[i].container, name, taken[i]) || any;
        if (!any)
            throw Failure{exitUsage, files + ": holds no '" + printable(name) +
                                         "'; unpack --list prints the names"};
    }
    for (const std::string& glob : selection.globs) {
        bool any = false;
        for (size_t i = 0; i < inputs.size(); ++i) {
            for (const uint32_t asset : inputs[i].assets) {
                if (!matchesPath(glob, inputs[i].container->asset(asset).name)) continue;
                taken[i][asset] = 1;
                any = true;
            }
        }
        if (!any) throw Failure{exitUsage, files + ": no name matches '" + printable(glob) + "'"};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::vector<uint32_t>& assets = inputs[i].assets;
        const auto isLeft = [&](uint32_t asset) { return taken[i][asset] == 0; };
        assets.erase(std::remove_if(assets.begin(), assets.end(), isLeft), assets.end());
    }
}

} // namespace

uint64_t PackedInput::decodedSize() const
{
    uint64_t size = 0;
    for (const uint32_t asset : assets)
        size += container->asset(asset).size;
    return size;
}

std::vector<PackedInput> openInputs(const std::string& path, std::unique_ptr<InputFile> first,
                                    Selection selection)
{
    std::vector<PackedInput> inputs;
    const auto open = [&](const std::string& name, std::unique_ptr<InputFile> file) {
        inputs.push_back({name, openContainer(std::move(file)), {}});
        inputs.back().assets.resize(inputs.back().container->assetCount());
        std::iota(inputs.back().assets.begin(), inputs.back().assets.end(), 0u);
    };
    open(path, std::move(first));
    std::vector<std::string> names;
    for (const std::string& word : selection.names) {
        const Container& container = *inputs[0].container;
        std::vector<char> unused(container.assetCount(), 0);
        const bool isName = container.isArchive() && takeName(container, word, unused);
        if (isName && isPackedFile(word))
            throw Failure{exitUsage,
                          printable(word) + ": is an asset of " + printable(path) +
                              " and a packed file as well; --only takes the asset, the file's "
                              "whole path from / on takes the file"};
        if (!isName && isPackedFile(word))
            open(word, std::make_unique<InputFile>(word, InputKind::file));
        else
            names.push_back(word);
    }
    selection.names = names;
    if (!selection.empty()) select(inputs, selection);
    return inputs;
}

} // namespace sluice
