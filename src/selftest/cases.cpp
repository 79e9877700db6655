// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cases.h"

#include <algorithm>

#ifdef __GNUC__
#pragma GCC diagnostic error "-Wswitch" // a case without a test does not compile
#endif

namespace sluice::selftest {

SluiceStatus SelfTestCases::run(SelfTestCase which, SluiceDevice device, Words& out)
{
    CaseBuffers on(device, out);
    switch (which) {
    case SelfTestCase::none: return SLUICE_ERROR_ARGUMENT;
    case SelfTestCase::status: testStatusWords(on); break;
    case SelfTestCase::checksum: testChecksum(on); break;
    case SelfTestCase::gdeflate: gdeflate(on); break;
    case SelfTestCase::gdeflate_pitched: gdeflatePitched(on); break;
    case SelfTestCase::gdeflate_by_driver: gdeflateByDriver(on); break;
    case SelfTestCase::tile_streams: tileStreams(on); break;
    case SelfTestCase::gstd: gstd(on); break;
    case SelfTestCase::fse_tables: testFseTables(on); break;
    case SelfTestCase::filter: testFilter(on); break;
    case SelfTestCase::compact_1: testCompact(on, 1); break;
    case SelfTestCase::compact_2: testCompact(on, 2); break;
    case SelfTestCase::compact_4: testCompact(on, 4); break;
    case SelfTestCase::compact_8: testCompact(on, 8); break;
    case SelfTestCase::compact_16: testCompact(on, 16); break;
    case SelfTestCase::interval_expand: testIntervalExpand(on); break;
    case SelfTestCase::interval_move: testIntervalMove(on); break;
    case SelfTestCase::interval_bulk: testBulk(on); break;
    case SelfTestCase::interval_search: testIntervalSearch(on); break;
    case SelfTestCase::scan: testScan(on); break;
    case SelfTestCase::reduce: testReduce(on); break;
    case SelfTestCase::float_decode: testFloatDecode(on); break;
    case SelfTestCase::df11: testDf11(on); break;
    }
    return on.status;
}

SluiceStatus SelfTestCases::compare(SelfTestCase which, SluiceDevice device,
                                    std::string& difference)
{
    Words& wanted = m_wanted[which];
    SluiceStatus status = SLUICE_OK;
    if (wanted.empty()) {
        SluiceDeviceInfo info = {};
        info.selector = "cpu";
        SluiceDevice cpu = nullptr;
        status = sluiceOpenDevice(&info, &cpu, nullptr);
        if (status == SLUICE_OK) status = run(which, cpu, wanted);
        sluiceCloseDevice(cpu);
        if (status != SLUICE_OK) wanted.clear();
    }
    Words got;
    if (status == SLUICE_OK) status = run(which, device, got);
    if (status != SLUICE_OK || got == wanted) return status;
    const auto at = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end());
    difference = got.size() != wanted.size()
                     ? "results of another size than on the CPU"
                     : "word " + std::to_string(at.first - got.begin()) + " of " +
                           std::to_string(got.size()) + " is " + std::to_string(*at.first) +
                           ", the CPU has " + std::to_string(*at.second);
    return SLUICE_OK;
}

uint32_t SelfTestCases::kernels(SelfTestCase which)
{
    switch (which) {
    case SelfTestCase::none: break;
    case SelfTestCase::checksum: return SLUICE_KERNELS_CHECKSUM;
    case SelfTestCase::status:
    case SelfTestCase::fse_tables: return SLUICE_KERNELS_FSE;
    case SelfTestCase::gdeflate:
    case SelfTestCase::gdeflate_pitched:
    case SelfTestCase::gdeflate_by_driver: return SLUICE_KERNELS_GDEFLATE;
    case SelfTestCase::tile_streams: return SLUICE_KERNELS_TILE_STREAMS;
    case SelfTestCase::gstd: return SLUICE_KERNELS_GSTD;
    case SelfTestCase::filter: return SLUICE_KERNELS_FILTER;
    case SelfTestCase::compact_4: return SLUICE_KERNELS_COMPACT_WORDS;
    case SelfTestCase::compact_1:
    case SelfTestCase::compact_2:
    case SelfTestCase::compact_8:
    case SelfTestCase::compact_16: return SLUICE_KERNELS_COMPACT; // indices are words
    case SelfTestCase::interval_expand:
    case SelfTestCase::interval_move:
    case SelfTestCase::interval_bulk:
    case SelfTestCase::interval_search: return SLUICE_KERNELS_INTERVAL;
    case SelfTestCase::scan:
    case SelfTestCase::reduce: return SLUICE_KERNELS_SCAN;
    case SelfTestCase::float_decode: return SLUICE_KERNELS_FLOAT;
    case SelfTestCase::df11: return SLUICE_KERNELS_DF11;
    }
    return SLUICE_KERNELS_ALL;
}

} // namespace sluice::selftest
