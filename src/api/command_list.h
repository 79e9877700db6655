// SPDX-License-Identifier: MIT OR Apache-2.0
// The commands, component by component. X(Name, kernel, Info): sluiceCmdName has a cmdName in every
// backend, and cpu::kernel is its reference. Backends and references declare their functions from
// these lists. Commands that are made of others, cmdTileStreams and cmdGstdFilter, are declared by
// hand, and so are requirements, which not every command has.
#pragma once

#define SLUICE_CORE_COMMANDS(X) X(Checksum, checksum, SluiceChecksumInfo)

// Primitives, which the decode of tile streams needs too.
#define SLUICE_SUM_COMMANDS(X)                                                                     \
    X(Scan, scan, SluiceScanInfo)                                                                  \
    X(Reduce, reduce, SluiceReduceInfo)

#define SLUICE_PRIMITIVE_COMMANDS(X)                                                               \
    X(Compact, compact, SluiceCompactInfo)                                                         \
    X(IntervalExpand, intervalExpand, SluiceIntervalExpandInfo)                                    \
    X(IntervalMove, intervalMove, SluiceIntervalMoveInfo)                                          \
    X(IntervalSearch, intervalSearch, SluiceIntervalSearchInfo)                                    \
    X(BulkRemove, bulkRemove, SluiceBulkInfo)                                                      \
    X(BulkInsert, bulkInsert, SluiceBulkInfo)

#define SLUICE_CODEC_COMMANDS(X)                                                                   \
    X(Gdeflate, gdeflate, SluiceGdeflateInfo)                                                      \
    X(Gstd, gstd, SluiceGstdInfo)                                                                  \
    X(Filter, filter, SluiceFilterInfo)                                                            \
    X(FseTables, fseTables, SluiceFseTablesInfo)

#define SLUICE_WEIGHT_COMMANDS(X)                                                                  \
    X(FloatDecode, floatDecode, SluiceFloatDecodeInfo)                                             \
    X(Df11, df11, SluiceDf11Info)

#define SLUICE_ALL_COMMANDS(X)                                                                     \
    SLUICE_CORE_COMMANDS(X)                                                                        \
    SLUICE_SUM_COMMANDS(X)                                                                         \
    SLUICE_PRIMITIVE_COMMANDS(X)                                                                   \
    SLUICE_CODEC_COMMANDS(X)                                                                       \
    SLUICE_WEIGHT_COMMANDS(X)

// Those of the components that the library is built with.
#define SLUICE_NO_COMMANDS(X)
#if SLUICE_HAVE_PRIMITIVES || SLUICE_HAVE_CODECS
#define SLUICE_BUILT_SUMS SLUICE_SUM_COMMANDS
#else
#define SLUICE_BUILT_SUMS SLUICE_NO_COMMANDS
#endif
#if SLUICE_HAVE_PRIMITIVES
#define SLUICE_BUILT_PRIMITIVES SLUICE_PRIMITIVE_COMMANDS
#else
#define SLUICE_BUILT_PRIMITIVES SLUICE_NO_COMMANDS
#endif
#if SLUICE_HAVE_CODECS
#define SLUICE_BUILT_CODECS SLUICE_CODEC_COMMANDS
#else
#define SLUICE_BUILT_CODECS SLUICE_NO_COMMANDS
#endif
#if SLUICE_HAVE_WEIGHTS
#define SLUICE_BUILT_WEIGHTS SLUICE_WEIGHT_COMMANDS
#else
#define SLUICE_BUILT_WEIGHTS SLUICE_NO_COMMANDS
#endif
#define SLUICE_BUILT_COMMANDS(X)                                                                   \
    SLUICE_CORE_COMMANDS(X)                                                                        \
    SLUICE_BUILT_SUMS(X)                                                                           \
    SLUICE_BUILT_PRIMITIVES(X)                                                                     \
    SLUICE_BUILT_CODECS(X)                                                                         \
    SLUICE_BUILT_WEIGHTS(X)

// What a backend's class says of a command.
#define SLUICE_OVERRIDE_COMMAND(Name, kernel, Info)                                                \
    SluiceStatus cmd##Name(SluiceCommands commands, const Info& info) override;
