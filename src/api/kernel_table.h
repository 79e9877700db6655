// SPDX-License-Identifier: MIT OR Apache-2.0
// The pipelines of the Vulkan backend and the self-tests: enumerations and tables are made of these
// lists. A new kernel has a row in each.
#pragma once

// The commands that run pipelines when these are tested by themselves. X(name, kernel, kernels,
// checksum): `sluice selftest` shows the test under the name `kernel`; a context with `kernels`
// (SluiceKernels) is needed. checksum: the sluiceTileChecksum of the results, which every backend
// gave when it was noted here; 0: choices of libzstd are in the results. The test itself is
// SelfTestCases::test<SelfTestCase::name> and stands in src/selftest.
#define SLUICE_SELF_TESTS(X)                                                                       \
    X(scan, "scan", SLUICE_KERNELS_SCAN, 0xdf3a5658)                                               \
    X(compact_1, "compact", SLUICE_KERNELS_COMPACT, 0xc1b38b48)                                    \
    X(compact_2, "compact", SLUICE_KERNELS_COMPACT, 0x2c0c45fc)                                    \
    X(compact_4, "compact", SLUICE_KERNELS_COMPACT_WORDS, 0x8481ccfd)                              \
    X(compact_8, "compact", SLUICE_KERNELS_COMPACT, 0x742ef172)                                    \
    X(compact_16, "compact", SLUICE_KERNELS_COMPACT, 0x77645a2d)                                   \
    X(reduce, "reduce", SLUICE_KERNELS_SCAN, 0xfaae24ea)                                           \
    X(interval_expand, "intervals", SLUICE_KERNELS_INTERVAL, 0x3dd5c789)                           \
    X(interval_move, "intervals", SLUICE_KERNELS_INTERVAL, 0xe0f5dea4)                             \
    X(interval_search, "intervals", SLUICE_KERNELS_INTERVAL, 0xc0f0c660)                           \
    X(interval_bulk, "bulk", SLUICE_KERNELS_INTERVAL, 0x7d03294c)                                  \
    X(gdeflate, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x04682a94)                                   \
    X(gdeflate_pitched, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x4e4852fe)                           \
    X(gdeflate_by_driver, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x519ab845)                         \
    X(checksum, "checksum", SLUICE_KERNELS_CHECKSUM, 0x2027ed46)                                   \
    X(tile_streams, "tile_streams", SLUICE_KERNELS_TILE_STREAMS, 0x24c52712)                       \
    X(gstd, "gstd", SLUICE_KERNELS_GSTD, 0)                                                        \
    X(filter, "filter", SLUICE_KERNELS_FILTER, 0x34c70a66)                                         \
    X(float_decode, "float", SLUICE_KERNELS_FLOAT, 0x7d0310f4)                                     \
    X(status, "fse_tables", SLUICE_KERNELS_FSE, 0xe89cccf5)                                        \
    X(fse_tables, "fse_tables", SLUICE_KERNELS_FSE, 0x25e2d815)                                    \
    X(df11, "df11", SLUICE_KERNELS_DF11, 0x8ffc6e6a)

// The pipelines of the Vulkan backend (vulkan/registry.h). X(name, shader, ...): the members of
// PipelineRow from `shader` on. The functions and the short names of kernels and operations are
// those of vulkan/registry.cpp, and T is SelfTestCase.
// clang-format off: a table
#define SLUICE_PIPELINES(X)                                                                        \
    X(status, "status", kAll, Need::always, always, minimum, none, T::status, asItIs)              \
    X(checksum, "checksum", kAll, Need::always, always, laneGroup, none, T::checksum, asItIs)      \
    X(gdeflate, "gdeflate", kGdeflateLinear | kGdeflateRows, Need::always, always, tilePair,       \
      gdeflate<GdeflateKind::any>, T::gdeflate, noVariants)                                        \
    X(gdeflate_pitched, "gdeflate", kGdeflateRows, Need::always, gdeflatePitched, tilePair,        \
      gdeflate<GdeflateKind::pitched>, T::gdeflate_pitched, asItIs)                                \
    X(gdeflate_few, "gdeflate", kGdeflateLinear, Need::speed, gdeflateFew, tilePair,               \
      gdeflate<GdeflateKind::few>, T::gdeflate, fewGdeflate)                                       \
    X(gdeflate_many, "gdeflate", kGdeflateLinear, Need::speed, gdeflateMany, laneGroup,            \
      gdeflate<GdeflateKind::many>, T::gdeflate, manyGdeflate)                                     \
    X(driver_regions, "driver_regions", kGdeflateLinear, Need::always, driverDecodes, minimum,     \
      none, T::gdeflate_by_driver, asItIs)                                                         \
    X(tile_streams, "tile_streams", SLUICE_KERNELS_TILE_STREAMS, Need::always, always, minimum,    \
      none, T::tile_streams, asItIs)                                                               \
    X(gstd_symbols, "gstd_symbols", SLUICE_KERNELS_GSTD, Need::always, always, laneGroup, none,    \
      T::gstd, asItIs)                                                                             \
    X(gstd_expand, "gstd_expand", SLUICE_KERNELS_GSTD, Need::always, always, gstdExpand,           \
      plainStores, T::gstd, noVariants)                                                            \
    X(gstd_expand_few, "gstd_expand", SLUICE_KERNELS_GSTD, Need::speed, gstdFew, gstdExpandFew,    \
      plainStores, T::gstd, fewGstd)                                                               \
    X(fse_tables, "fse_tables", SLUICE_KERNELS_FSE, Need::always, always, laneGroup, none,         \
      T::fse_tables, asItIs)                                                                       \
    X(filter, "filter", SLUICE_KERNELS_FILTER, Need::always, always, filter, plainStores,          \
      T::filter, noVariants)                                                                       \
    X(filter_few, "filter", SLUICE_KERNELS_FILTER, Need::speed, filterFew, filterFewSize,          \
      plainStores, T::filter, fewFilter)                                                           \
    X(compact_1, "compact", kCompactSizes, Need::always, always, compact, elementBytes<1>,         \
      T::compact_1, asItIs)                                                                        \
    X(compact_2, "compact", kCompactSizes, Need::always, always, compact, elementBytes<2>,         \
      T::compact_2, asItIs)                                                                        \
    X(compact_4, "compact", kCompactWords, Need::always, always, compact, elementBytes<4>,         \
      T::compact_4, noVariants)                                                                    \
    X(compact_8, "compact", kCompactSizes, Need::always, always, compact, elementBytes<8>,         \
      T::compact_8, asItIs)                                                                        \
    X(compact_16, "compact", kCompactSizes, Need::always, always, compact, elementBytes<16>,       \
      T::compact_16, asItIs)                                                                       \
    X(compact_ring, "compact_ring", kCompactWords, Need::speed, compactRing, ring,                 \
      compactRingTiles<0>, T::compact_4, ringCompact)                                              \
    X(compact_ring_selectors, "compact_ring", kCompactWords, Need::speed, compactRing, ring,       \
      compactRingTiles<1>, T::compact_4, ringCompact)                                              \
    X(compact_ring_words, "compact_ring", kCompactWords, Need::speed, compactRing, ring,           \
      compactRingTiles<2>, T::compact_4, ringCompact)                                              \
    X(compact_ring_bytes, "compact_ring", kCompactWords, Need::speed, compactRing, ring,           \
      compactRingTiles<3>, T::compact_4, ringCompact)                                              \
    X(compact_call, "compact_call", kCompactWords, Need::speed, compactRing, ring, compactCall<0>, \
      T::compact_4, callCompact)                                                                   \
    X(compact_call_selectors, "compact_call", kCompactWords, Need::speed, compactRing, ring,       \
      compactCall<1>, T::compact_4, callCompact)                                                   \
    X(interval_plan, "interval_plan", kInterval, Need::always, always, minimum, none,              \
      T::interval_expand, asItIs)                                                                  \
    X(interval_expand, "interval_expand", kInterval, Need::always, always, intervals, none,        \
      T::interval_expand, noVariants)                                                              \
    X(interval_expand_words, "interval_expand", kInterval, Need::speed, specializedIntervals,      \
      intervals, elementBytes<4>, T::interval_expand, specialized)                                 \
    X(interval_move, "interval_move", kInterval, Need::always, always, intervals, move<false>,     \
      T::interval_move, longRuns)                                                                  \
    X(interval_move_short, "interval_move", kInterval, Need::speed, specializedIntervals,          \
      intervals, move<true>, T::interval_move, shortRuns)                                          \
    X(interval_search, "interval_search", kInterval, Need::always, always, intervals, none,        \
      T::interval_search, asItIs)                                                                  \
    X(scan_sum, "scan", kScanSumUsers, Need::always, always, scan, operation<kSum>, T::scan,       \
      noVariants)                                                                                  \
    X(scan_max, "scan", kWords, Need::always, always, scan, operation<kMax>, T::scan, asItIs)      \
    X(scan_sum_f32, "scan", kF32, Need::always, always, scan, operation<kSumF32>, T::scan, asItIs) \
    X(scan_sum_segments, "scan", kSegments, Need::always, always, scan, operation<kSum, true>,     \
      T::scan, asItIs)                                                                             \
    X(scan_max_segments, "scan", kSegments, Need::always, always, scan, operation<kMax, true>,     \
      T::scan, asItIs)                                                                             \
    X(scan_sum_f32_segments, "scan", kSegments, Need::always, always, scan,                        \
      operation<kSumF32, true>, T::scan, asItIs)                                                   \
    X(scan_sum_ring, "scan_ring", kWords, Need::speed, scanRing, ring, scanRingRounds, T::scan,    \
      ringScan)                                                                                    \
    X(scan_sum_u64, "scan64", kU64, Need::always, always, scan, operation<kSum>, T::scan, asItIs)  \
    X(scan_max_u64, "scan64", kU64, Need::always, always, scan, operation<kMax>, T::scan, asItIs)  \
    X(scan_sum_u64_segments, "scan64", kSegments, Need::always, always, scan,                      \
      operation<kSum, true>, T::scan, asItIs)                                                      \
    X(scan_max_u64_segments, "scan64", kSegments, Need::always, always, scan,                      \
      operation<kMax, true>, T::scan, asItIs)                                                      \
    X(reduce_sum, "reduce", kWords, Need::always, always, scan, operation<kSum>, T::reduce,        \
      asItIs)                                                                                      \
    X(reduce_max, "reduce", kWords, Need::always, always, scan, operation<kMax>, T::reduce,        \
      asItIs)                                                                                      \
    X(reduce_sum_f32, "reduce", kF32, Need::always, always, scan, operation<kSumF32>, T::reduce,   \
      asItIs)                                                                                      \
    X(reduce_sum_f32_segments, "reduce", kSegments, Need::always, always, scan,                    \
      operation<kSumF32, true>, T::scan, asItIs)                                                   \
    X(reduce_sum_u64, "reduce64", kU64, Need::always, always, scan, operation<kSum>, T::reduce,    \
      asItIs)                                                                                      \
    X(reduce_max_u64, "reduce64", kU64, Need::always, always, scan, operation<kMax>, T::reduce,    \
      asItIs)                                                                                      \
    X(float_decode, "float_decode", SLUICE_KERNELS_FLOAT, Need::always, always, floatDecode, none, \
      T::float_decode, asItIs)                                                                     \
    X(df11, "df11", SLUICE_KERNELS_DF11, Need::always, always, df11, none, T::df11, asItIs)
// clang-format on
