// SPDX-License-Identifier: MIT OR Apache-2.0
// Edits a copy of the shader folder during a running scan. It is a program of its own, since
// sluice_tests does not contain glslang.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "layout/constants.h"
#include "layout/scan.h"
#include "tests/reload/hot_reload_program.h"

using namespace sluice::test;

namespace {

// Edits scan.comp so that it leaves `marker` in the last element of every scan that meets
// `condition`. The self-test has no scan of 777 elements.
const char* const kOnly777 = "p.maxCount == 777u";
void mark(Program& program, const std::string& condition, const std::string& marker,
          bool rename = false)
{
    program.edit(
        "scan.comp", "void main() {",
        "void kernelMain();\n"
        "void main() {\n"
        "    kernelMain();\n"
        "    memoryBarrierBuffer();\n"
        "    barrier();\n"
        "    if (" +
            condition +
            " && wgInvocation() == 0u) WordsOut(p.output_).w[p.maxCount - 1u] = " + marker +
            ";\n"
            "}\n"
            "void kernelMain() {",
        rename);
}

} // namespace

TEST_CASE("a good edit is swapped in; what was recorded before keeps the old pipeline")
{
    Program program;
    CHECK(program.scan() == 776);
    const SluiceCommands before = program.record();
    mark(program, kOnly777, "1234u");
    const Event event = program.next("scan");
    CHECK(event.text == "");
    REQUIRE(event.result == SLUICE_RELOAD_SWAPPED);
    MESSAGE("compiled in " << event.compileMilliseconds << " ms, tested in "
                           << event.selfTestMilliseconds << " ms");
    CHECK(program.submit(before) == 776);
    CHECK(program.scan() == 1234);
    sluiceReleaseOldPipelines(program.reload);
    CHECK(program.scan() == 1234);
    CHECK(program.quiet());
}

TEST_CASE("an editor that saves by renaming")
{
    Program program;
    mark(program, kOnly777, "1u", true);
    REQUIRE(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 1);
    program.edit("scan.comp", "= 1u;", "= 2u;", true);
    REQUIRE(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 2);
}

TEST_CASE("a syntax error names file and line, the last good pipeline goes on, the next good edit "
          "comes in")
{
    Program program;
    program.edit("scan.comp", "void main() {", "\nvoid main() { nonsense;");
    Event event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_COMPILE_ERROR);
    CHECK(event.text.rfind("scan.comp:", 0) == 0);
    CHECK(event.text.find("nonsense") != std::string::npos);
    CHECK(program.scan() == 776);

    program.edit("scan.comp", " nonsense;", "");
    event = program.next("scan");
    CHECK(event.text == "");
    CHECK(event.result == SLUICE_RELOAD_SWAPPED);

    program.edit("lib/runs.glsl", "#define SLUICE_RUNS_GLSL",
                 "#define SLUICE_RUNS_GLSL\nalso nonsense;");
    event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_COMPILE_ERROR);
    CHECK(event.text.rfind("lib/runs.glsl:", 0) == 0);
    CHECK(program.scan() == 776);
}

TEST_CASE("a wrong result is refused")
{
    Program program;
    mark(program, "p.maxCount > 100u", "1234u");
    const Event event = program.next("scan");
    CHECK(event.result == SLUICE_RELOAD_WRONG_RESULT);
    CHECK(event.text != "");
    CHECK(program.scan() == 776);
}

TEST_CASE("a changed include reloads every kernel that includes it, and no other")
{
    Program program(SLUICE_KERNELS_SCAN);
    const std::string guard = "#define SLUICE_RUNS_GLSL";
    program.edit("lib/runs.glsl", guard, guard + "\nconst uint kMarker = 5u;");
    for (const char* kernel : {"scan", "scan64", "reduce", "reduce64"})
        CHECK(program.next(kernel).result == SLUICE_RELOAD_SWAPPED);
    mark(program, kOnly777, "kMarker");
    CHECK(program.next("scan").result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 5);
    program.edit("lib/runs.glsl", "kMarker = 5u", "kMarker = 6u", true);
    for (const char* kernel : {"scan", "scan64", "reduce", "reduce64"})
        CHECK(program.next(kernel).result == SLUICE_RELOAD_SWAPPED);
    CHECK(program.scan() == 6);
    CHECK(program.quiet());
}

TEST_CASE("a wrong decoder is refused")
{
    Program program(SLUICE_KERNELS_SCAN | SLUICE_KERNELS_GDEFLATE | SLUICE_KERNELS_DF11);
    program.edit("gdeflate.comp", "void main() {",
                 "void kernelMain();\nvoid main() {}\nvoid kernelMain() {");
    const Event event = program.next("gdeflate");
    CHECK(event.result == SLUICE_RELOAD_WRONG_RESULT);
    program.edit("df11.comp", "gaps >> (32u - gapBits)", "gaps >> (31u - gapBits)");
    CHECK(program.next("df11").result == SLUICE_RELOAD_WRONG_RESULT);
}

TEST_CASE("a changed interface is refused")
{
    Program program;
    SUBCASE("push constants")
    {
        program.edit("lib/scan_tile.glsl", "ScanParams p;", "ScanParams p; uint more;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("specialization constants")
    {
        program.edit("scan.comp", "void main() {",
                     "layout(constant_id = 9) const uint kNew = 1u;\nvoid main() {\nif (kNew == "
                     "0u) return;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("workgroup size")
    {
        program.edit("lib/lanes.glsl",
                     "layout(local_size_x_id = SLUICE_CONSTANT_WORKGROUP_SIZE) in;",
                     "layout(local_size_x = 64) in;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    SUBCASE("a capability that may not be enabled")
    {
        program.edit("scan.comp", "void main() {",
                     "void main() { double d = double(p.maxCount); if (d < 0.0lf) return;");
        CHECK(program.next("scan").result == SLUICE_RELOAD_INTERFACE_CHANGED);
    }
    CHECK(program.scan() == 776);
}
