// SPDX-License-Identifier: MIT OR Apache-2.0
// A driver that compiles everything away would make this of any kernel.
#version 460

layout(local_size_x_id = 0) in;

void main() {}
