// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reload/interface.h"

#include <algorithm>
#include <map>
#include <vector>

namespace sluice::dev {

namespace {

// Opcodes from the SPIR-V specification, section 3.
enum Op : uint32_t {
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpCapability = 17,
    OpTypeBool = 20,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeMatrix = 24,
    OpTypeArray = 28,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpConstant = 43,
    OpConstantComposite = 44,
    OpSpecConstant = 50,
    OpSpecConstantComposite = 51,
    OpVariable = 59,
    OpDecorate = 71,
    OpMemberDecorate = 72,
    OpExecutionModeId = 331,
};
constexpr uint32_t kMagic = 0x07230203;
constexpr uint32_t kDecorationSpecId = 1, kDecorationArrayStride = 6, kDecorationBuiltIn = 11,
                   kDecorationBinding = 33, kDecorationOffset = 35;
constexpr uint32_t kBuiltInWorkgroupSize = 25;
constexpr uint32_t kModeLocalSize = 17, kModeLocalSizeId = 38;
constexpr uint32_t kStoragePushConstant = 9;
constexpr uint32_t kModelGlCompute = 5;

using Words = std::vector<uint32_t>; // an instruction: the opcode, then its operands

class Module {
public:
    // Reads the instructions of `count` words of SPIR-V, and keeps those that finish() needs.
    // Returns false if the words are not SPIR-V.
    bool read(const uint32_t* words, size_t count, ShaderInterface& out)
    {
        if (count < 5 || words[0] != kMagic) return false;
        for (size_t at = 5; at < count;) {
            const size_t length = words[at] >> 16;
            if (length == 0 || length > count - at) return false;
            Words one(words + at, words + at + length);
            one[0] &= 0xffff;
            at += length;
            // Pad to six words, the most that instruction() reads. So it needs no bounds checks.
            one.resize(std::max<size_t>(one.size(), 6));
            instruction(one, length, out);
        }
        return true;
    }

    uint32_t size(uint32_t type, int depth = 0) const
    {
        const auto found = m_types.find(type);
        if (found == m_types.end() || depth > 16) return 0;
        const Words& t = found->second;
        switch (t[0]) {
        case OpTypeBool: return 4;
        case OpTypeInt:
        case OpTypeFloat: return t[2] / 8;
        case OpTypeVector:
        case OpTypeMatrix: return t[3] * size(t[2], depth + 1);
        case OpTypePointer: return 8;
        case OpTypeArray: {
            const auto stride = m_strides.find(type);
            const uint32_t each =
                stride != m_strides.end() ? stride->second : size(t[2], depth + 1);
            return each * uint32_t(std::max<int64_t>(0, value(t[3])));
        }
        case OpTypeStruct: {
            uint32_t end = 0;
            for (uint32_t i = 0; i < members(type); ++i) {
                const auto offset = m_offsets.find({type, i});
                if (offset != m_offsets.end())
                    end = std::max(end, offset->second + size(t[2 + i], depth + 1));
            }
            return end;
        }
        default: return 0;
        }
    }

    // Returns the value of a constant. For a specialization constant, returns -1 - constant_id.
    int64_t value(uint32_t id) const
    {
        const auto spec = m_specIds.find(id);
        if (spec != m_specIds.end()) return -1 - int64_t(spec->second);
        const auto found = m_constants.find(id);
        return found == m_constants.end() ? 0 : found->second[3];
    }

    void finish(ShaderInterface& out) const
    {
        for (const auto& [id, spec] : m_specIds)
            out.specIds.insert(spec);
        for (const uint32_t pointer : m_pushConstants) {
            const auto type = m_types.find(pointer);
            if (type != m_types.end())
                out.pushConstantBytes = std::max(out.pushConstantBytes, size(type->second[3]));
        }
        // If the module has the built-in WorkgroupSize, that replaces the LocalSize of the
        // execution mode.
        std::array<uint32_t, 3> ids = m_localSizeIds;
        const auto composite = m_constants.find(m_workgroupSize);
        if (composite != m_constants.end())
            ids = {composite->second[3], composite->second[4], composite->second[5]};
        for (size_t i = 0; i < 3 && ids[0] != 0; ++i)
            out.localSize[i] = value(ids[i]);
    }

private:
    void instruction(const Words& w, size_t length, ShaderInterface& out)
    {
        switch (w[0]) {
        case OpCapability: out.capabilities.insert(w[1]); break;
        case OpEntryPoint: out.valid = w[1] == kModelGlCompute; break;
        case OpExecutionMode:
            if (w[2] == kModeLocalSize) out.localSize = {w[3], w[4], w[5]};
            break;
        case OpExecutionModeId:
            if (w[2] == kModeLocalSizeId) m_localSizeIds = {w[3], w[4], w[5]};
            break;
        case OpTypeBool:
        case OpTypeInt:
        case OpTypeFloat:
        case OpTypeVector:
        case OpTypeMatrix:
        case OpTypeArray:
        case OpTypePointer: m_types[w[1]] = w; break;
        case OpTypeStruct:
            m_types[w[1]] = w;
            m_memberCounts[w[1]] = uint32_t(length - 2);
            break;
        case OpConstant:
        case OpConstantComposite:
        case OpSpecConstant:
        case OpSpecConstantComposite: m_constants[w[2]] = w; break;
        case OpVariable:
            if (w[3] == kStoragePushConstant) m_pushConstants.push_back(w[1]);
            break;
        case OpMemberDecorate:
            if (w[3] == kDecorationOffset) m_offsets[{w[1], w[2]}] = w[4];
            break;
        case OpDecorate:
            if (w[2] == kDecorationSpecId) m_specIds[w[1]] = w[3];
            if (w[2] == kDecorationArrayStride) m_strides[w[1]] = w[3];
            if (w[2] == kDecorationBuiltIn && w[3] == kBuiltInWorkgroupSize) m_workgroupSize = w[1];
            if (w[2] == kDecorationBinding) ++out.bindings;
            break;
        default: break;
        }
    }

    uint32_t members(uint32_t type) const
    {
        const auto found = m_memberCounts.find(type);
        return found == m_memberCounts.end() ? 0 : found->second;
    }

    std::map<uint32_t, Words> m_types, m_constants;
    std::map<uint32_t, uint32_t> m_memberCounts, m_strides, m_specIds;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_offsets;
    std::vector<uint32_t> m_pushConstants; // type ids of pointers to push constants
    std::array<uint32_t, 3> m_localSizeIds = {0, 0, 0};
    uint32_t m_workgroupSize = 0;
};

std::string sizeText(const std::array<int64_t, 3>& size)
{
    std::string text;
    for (const int64_t one : size)
        text += (text.empty() ? "" : " x ") +
                (one >= 0 ? std::to_string(one) : "constant_id " + std::to_string(-1 - one));
    return text;
}

} // namespace

ShaderInterface readInterface(const uint32_t* words, size_t count)
{
    ShaderInterface result;
    Module module;
    if (!module.read(words, count, result)) return {};
    module.finish(result);
    return result;
}

std::string interfaceChange(const ShaderInterface& before, const ShaderInterface& after)
{
    if (!after.valid) return "not a compute shader";
    if (before.pushConstantBytes != after.pushConstantBytes)
        return "push constants are " + std::to_string(after.pushConstantBytes) + " bytes, not " +
               std::to_string(before.pushConstantBytes);
    if (before.localSize != after.localSize)
        return "workgroup size is " + sizeText(after.localSize) + ", not " +
               sizeText(before.localSize);
    for (const uint32_t id : after.specIds) {
        if (before.specIds.count(id) == 0)
            return "a new specialization constant, constant_id " + std::to_string(id);
    }
    if (before.bindings != after.bindings) return "other descriptor bindings";
    for (const uint32_t capability : after.capabilities) {
        if (before.capabilities.count(capability) == 0)
            return "needs SPIR-V capability " + std::to_string(capability) +
                   ", which it did not need before";
    }
    return {};
}

} // namespace sluice::dev
