// SPDX-License-Identifier: MIT OR Apache-2.0
// The lists of the Vulkan backend's pipelines and self-tests, from which enumerations and tables
// are made. A new kernel needs a row in each list.
#pragma once

// The self-tests of pipelines: X(name, kernel, kernels, checksum). `sluice selftest` shows the test
// under the name `kernel`. The test needs a context with the SluiceKernels `kernels`. `checksum` is
// the sluiceTileChecksum of the test's results, on which all backends agreed when the row was
// written; it is 0 if the results depend on choices of libzstd. The test itself is
// SelfTestCases::test<SelfTestCase::name> in src/selftest.
#define SLUICE_SELF_TESTS(X)                                                                       \
    X(scan, "scan", SLUICE_KERNELS_SCAN, 0xdf3a5658)                                               \
    X(compact_1, "compact", SLUICE_KERNELS_COMPACT, 0xc1b38b48)                                    \
    X(compact_2, "compact", SLUICE_KERNELS_COMPACT, 0x2c0c45fc)                                    \
    X(compact_4, "compact", SLUICE_KERNELS_COMPACT_WORDS, 0x8481ccfd)                              \
    X(compact_8, "compact", SLUICE_KERNELS_COMPACT, 0x742ef172)                                    \
    X(compact_16, "compact", SLUICE_KERNELS_COMPACT, 0x77645a2d)                                   \
    X(compact_wide, "compact", SLUICE_KERNELS_COMPACT, 0x1f1b4315)                                 \
    X(reduce, "reduce", SLUICE_KERNELS_SCAN, 0xfaae24ea)                                           \
    X(interval_expand, "intervals", SLUICE_KERNELS_INTERVAL, 0xc4b087fd)                           \
    X(interval_move, "intervals", SLUICE_KERNELS_INTERVAL, 0xe0f5dea4)                             \
    X(interval_search, "intervals", SLUICE_KERNELS_INTERVAL, 0xc0f0c660)                           \
    X(interval_bulk, "bulk", SLUICE_KERNELS_INTERVAL, 0x7d03294c)                                  \
    X(gdeflate, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x04682a94)                                   \
    X(gdeflate_pitched, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x4e4852fe)                           \
    X(gdeflate_by_driver, "gdeflate", SLUICE_KERNELS_GDEFLATE, 0x519ab845)                         \
    X(checksum, "checksum", SLUICE_KERNELS_CHECKSUM, 0x2027ed46)                                   \
    X(tile_streams, "tile_streams", SLUICE_KERNELS_TILE_STREAMS, 0xa62ebe34)                       \
    X(gstd, "gstd", SLUICE_KERNELS_GSTD, 0)                                                        \
    X(filter, "filter", SLUICE_KERNELS_FILTER, 0x34c70a66)                                         \
    X(float_decode, "float", SLUICE_KERNELS_FLOAT, 0x7d0310f4)                                     \
    X(status, "fse_tables", SLUICE_KERNELS_FSE, 0xe89cccf5)                                        \
    X(fse_tables, "fse_tables", SLUICE_KERNELS_FSE, 0x25e2d815)                                    \
    X(df11, "df11", SLUICE_KERNELS_DF11, 0x8ffc6e6a)                                               \
    X(zstd, "zstd", SLUICE_KERNELS_ZSTD, 0)                                                        \
    X(uastc, "uastc", SLUICE_KERNELS_UASTC, 0x29969f8e)

// The pipelines of the Vulkan backend: X(name, shader, ...). The arguments are the members of
// PipelineRow (vulkan/registry.h) from `shader` on. registry.cpp defines the functions appliesX,
// sizeX, constantsX and chooseX, and the short names of kernels and operations. T is SelfTestCase.
#define SLUICE_PIPELINES(X)                                                                        \
    X(status, "status", kAll, Need::always, appliesAlways, sizeMinimum, constantsNone, T::status,  \
      chooseAsItIs)                                                                                \
    X(checksum, "checksum", kAll, Need::always, appliesAlways, sizeLaneGroup, constantsNone,       \
      T::checksum, chooseAsItIs)                                                                   \
    X(gdeflate, "gdeflate", kGdeflateLinear | kGdeflateRows, Need::always, appliesAlways,          \
      sizeTilePair, constantsGdeflate<GdeflateKind::any>, T::gdeflate, chooseNoVariants)           \
    X(gdeflate_pitched, "gdeflate", kGdeflateRows, Need::always, appliesGdeflatePitched,           \
      sizeTilePair, constantsGdeflate<GdeflateKind::pitched>, T::gdeflate_pitched, chooseAsItIs)   \
    X(gdeflate_few, "gdeflate", kGdeflateLinear, Need::speed, appliesGdeflateFew, sizeTilePair,    \
      constantsGdeflate<GdeflateKind::few>, T::gdeflate, chooseGdeflateFew)                        \
    X(gdeflate_many, "gdeflate", kGdeflateLinear, Need::speed, appliesGdeflateMany, sizeLaneGroup, \
      constantsGdeflate<GdeflateKind::many>, T::gdeflate, chooseGdeflateMany)                      \
    X(driver_regions, "driver_regions", kGdeflateLinear, Need::always, appliesDriverRegions,       \
      sizeMinimum, constantsNone, T::gdeflate_by_driver, chooseAsItIs)                             \
    X(tile_streams, "tile_streams", SLUICE_KERNELS_TILE_STREAMS, Need::always, appliesAlways,      \
      sizeMinimum, constantsNone, T::tile_streams, chooseAsItIs)                                   \
    X(gstd_symbols, "gstd_symbols", SLUICE_KERNELS_GSTD, Need::always, appliesAlways,              \
      sizeLaneGroup, constantsNone, T::gstd, chooseAsItIs)                                         \
    X(gstd_expand, "gstd_expand", SLUICE_KERNELS_GSTD, Need::always, appliesAlways,                \
      sizeGstdExpand, constantsPlainStores, T::gstd, chooseNoVariants)                             \
    X(gstd_expand_few, "gstd_expand", SLUICE_KERNELS_GSTD, Need::speed, appliesGstdFew, sizeFew,   \
      constantsPlainStores, T::gstd, chooseGstdFew)                                                \
    X(fse_tables, "fse_tables", SLUICE_KERNELS_FSE, Need::always, appliesAlways, sizeLaneGroup,    \
      constantsNone, T::fse_tables, chooseAsItIs)                                                  \
    X(filter, "filter", SLUICE_KERNELS_FILTER, Need::always, appliesAlways, sizeFilter,            \
      constantsPlainStores, T::filter, chooseNoVariants)                                           \
    X(filter_few, "filter", SLUICE_KERNELS_FILTER, Need::speed, appliesFilterFew, sizeFew,         \
      constantsPlainStores, T::filter, chooseFilterFew)                                            \
    X(compact_1, "compact", kCompactSizes, Need::always, appliesAlways, sizeCompact,               \
      constantsElementBytes<1>, T::compact_1, chooseAsItIs)                                        \
    X(compact_2, "compact", kCompactSizes, Need::always, appliesAlways, sizeCompact,               \
      constantsElementBytes<2>, T::compact_2, chooseAsItIs)                                        \
    X(compact_4, "compact", kCompactWords, Need::always, appliesAlways, sizeCompact,               \
      constantsElementBytes<4>, T::compact_4, chooseNoVariants)                                    \
    X(compact_8, "compact", kCompactSizes, Need::always, appliesAlways, sizeCompact,               \
      constantsElementBytes<8>, T::compact_8, chooseAsItIs)                                        \
    X(compact_16, "compact", kCompactSizes, Need::always, appliesAlways, sizeCompact,              \
      constantsElementBytes<16>, T::compact_16, chooseAsItIs)                                      \
    X(compact_wide, "compact", kCompactSizes, Need::always, appliesAlways, sizeCompactWide,        \
      constantsElementBytes<0>, T::compact_wide, chooseAsItIs)                                     \
    X(compact_ring, "compact_ring", kCompactWords, Need::speed, appliesCompactRing, sizeRing,      \
      constantsCompactRing<0>, T::compact_4, chooseCompactRing)                                    \
    X(compact_ring_selectors, "compact_ring", kCompactWords, Need::speed, appliesCompactRing,      \
      sizeRing, constantsCompactRing<1>, T::compact_4, chooseCompactRing)                          \
    X(compact_ring_words, "compact_ring", kCompactWords, Need::speed, appliesCompactRing,          \
      sizeRing, constantsCompactRing<2>, T::compact_4, chooseCompactRing)                          \
    X(compact_ring_bytes, "compact_ring", kCompactWords, Need::speed, appliesCompactRing,          \
      sizeRing, constantsCompactRing<3>, T::compact_4, chooseCompactRing)                          \
    X(compact_call, "compact_call", kCompactWords, Need::speed, appliesCompactRing, sizeRing,      \
      constantsCompactCall<0>, T::compact_4, chooseCompactCall)                                    \
    X(compact_call_selectors, "compact_call", kCompactWords, Need::speed, appliesCompactRing,      \
      sizeRing, constantsCompactCall<1>, T::compact_4, chooseCompactCall)                          \
    X(interval_plan, "interval_plan", kInterval, Need::always, appliesAlways, sizeMinimum,         \
      constantsNone, T::interval_expand, chooseAsItIs)                                             \
    X(interval_expand, "interval_expand", kInterval, Need::always, appliesAlways, sizeIntervals,   \
      constantsNone, T::interval_expand, chooseNoVariants)                                         \
    X(interval_expand_words, "interval_expand", kInterval, Need::speed,                            \
      appliesSpecializedIntervals, sizeIntervals, constantsElementBytes<4>, T::interval_expand,    \
      chooseSpecialized)                                                                           \
    X(interval_move, "interval_move", kInterval, Need::always, appliesAlways, sizeIntervals,       \
      constantsMove<false>, T::interval_move, chooseLongRuns)                                      \
    X(interval_move_short, "interval_move", kInterval, Need::speed, appliesSpecializedIntervals,   \
      sizeIntervals, constantsMove<true>, T::interval_move, chooseShortRuns)                       \
    X(interval_search, "interval_search", kInterval, Need::always, appliesAlways, sizeIntervals,   \
      constantsNone, T::interval_search, chooseAsItIs)                                             \
    X(scan_sum, "scan", kScanSumUsers, Need::always, appliesAlways, sizeScan,                      \
      constantsOperation<kSum>, T::scan, chooseNoVariants)                                         \
    X(scan_max, "scan", kWords, Need::always, appliesAlways, sizeScan, constantsOperation<kMax>,   \
      T::scan, chooseAsItIs)                                                                       \
    X(scan_sum_f32, "scan", kF32, Need::always, appliesAlways, sizeScan,                           \
      constantsOperation<kSumF32>, T::scan, chooseAsItIs)                                          \
    X(scan_sum_segments, "scan", kSegments, Need::always, appliesAlways, sizeScan,                 \
      constantsOperation<kSum, true>, T::scan, chooseAsItIs)                                       \
    X(scan_max_segments, "scan", kSegments, Need::always, appliesAlways, sizeScan,                 \
      constantsOperation<kMax, true>, T::scan, chooseAsItIs)                                       \
    X(scan_sum_f32_segments, "scan", kSegments, Need::always, appliesAlways, sizeScan,             \
      constantsOperation<kSumF32, true>, T::scan, chooseAsItIs)                                    \
    X(scan_sum_ring, "scan_ring", kWords, Need::speed, appliesScanRing, sizeRing,                  \
      constantsScanRing, T::scan, chooseScanRing)                                                  \
    X(scan_sum_u64, "scan64", kU64, Need::always, appliesAlways, sizeScan,                         \
      constantsOperation<kSum>, T::scan, chooseAsItIs)                                             \
    X(scan_max_u64, "scan64", kU64, Need::always, appliesAlways, sizeScan,                         \
      constantsOperation<kMax>, T::scan, chooseAsItIs)                                             \
    X(scan_sum_u64_segments, "scan64", kSegments, Need::always, appliesAlways, sizeScan,           \
      constantsOperation<kSum, true>, T::scan, chooseAsItIs)                                       \
    X(scan_max_u64_segments, "scan64", kSegments, Need::always, appliesAlways, sizeScan,           \
      constantsOperation<kMax, true>, T::scan, chooseAsItIs)                                       \
    X(reduce_sum, "reduce", kWords, Need::always, appliesAlways, sizeScan,                         \
      constantsOperation<kSum>, T::reduce, chooseAsItIs)                                           \
    X(reduce_max, "reduce", kWords, Need::always, appliesAlways, sizeScan,                         \
      constantsOperation<kMax>, T::reduce, chooseAsItIs)                                           \
    X(reduce_sum_f32, "reduce", kF32, Need::always, appliesAlways, sizeScan,                       \
      constantsOperation<kSumF32>, T::reduce, chooseAsItIs)                                        \
    X(reduce_sum_f32_segments, "reduce", kSegments, Need::always, appliesAlways, sizeScan,         \
      constantsOperation<kSumF32, true>, T::scan, chooseAsItIs)                                    \
    X(reduce_sum_u64, "reduce64", kU64, Need::always, appliesAlways, sizeScan,                     \
      constantsOperation<kSum>, T::reduce, chooseAsItIs)                                           \
    X(reduce_max_u64, "reduce64", kU64, Need::always, appliesAlways, sizeScan,                     \
      constantsOperation<kMax>, T::reduce, chooseAsItIs)                                           \
    X(float_decode, "float_decode", SLUICE_KERNELS_FLOAT, Need::always, appliesAlways,             \
      sizeFloatDecode, constantsNone, T::float_decode, chooseAsItIs)                               \
    X(df11, "df11", SLUICE_KERNELS_DF11, Need::always, appliesAlways, sizeDf11, constantsNone,     \
      T::df11, chooseAsItIs)                                                                       \
    X(zstd_walk, "zstd_walk", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways, sizeLaneGroup,     \
      constantsNone, T::zstd, chooseAsItIs)                                                        \
    X(zstd_literals, "zstd_literals", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways,            \
      sizeLaneGroup, constantsNone, T::zstd, chooseAsItIs)                                         \
    X(zstd_sequences, "zstd_sequences", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways,          \
      sizeZstdSequences, constantsZstdSequences, T::zstd, chooseAsItIs)                            \
    X(zstd_place, "zstd_place", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways, sizeLaneGroup,   \
      constantsNone, T::zstd, chooseAsItIs)                                                        \
    X(zstd_expand, "zstd_expand", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways,                \
      sizeZstdExpand, constantsPlainStores, T::zstd, chooseAsItIs)                                 \
    X(zstd_bytes, "zstd_bytes", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways, sizeMinimum,     \
      constantsNone, T::zstd, chooseZstdLinks)                                                     \
    X(zstd_hash, "zstd_hash", SLUICE_KERNELS_ZSTD, Need::always, appliesAlways, sizeLaneGroup,     \
      constantsNone, T::zstd, chooseAsItIs)                                                        \
    X(uastc_bc7, "uastc", SLUICE_KERNELS_UASTC, Need::always, appliesAlways, sizeMinimum,          \
      constantsUastc<SLUICE_UA_GROUP_BC7>, T::uastc, chooseAsItIs)                                 \
    X(uastc_astc, "uastc", SLUICE_KERNELS_UASTC, Need::always, appliesAlways, sizeMinimum,         \
      constantsUastc<SLUICE_UA_GROUP_ASTC>, T::uastc, chooseAsItIs)                                \
    X(uastc_rgba8, "uastc", SLUICE_KERNELS_UASTC, Need::always, appliesAlways, sizeMinimum,        \
      constantsUastc<SLUICE_UA_GROUP_RGBA8>, T::uastc, chooseAsItIs)                               \
    X(uastc_bc, "uastc", SLUICE_KERNELS_UASTC, Need::always, appliesAlways, sizeMinimum,           \
      constantsUastc<SLUICE_UA_GROUP_BC>, T::uastc, chooseAsItIs)                                  \
    X(uastc_etc, "uastc", SLUICE_KERNELS_UASTC, Need::always, appliesAlways, sizeMinimum,          \
      constantsUastc<SLUICE_UA_GROUP_ETC>, T::uastc, chooseAsItIs)
// clang-format on
