// SPDX-License-Identifier: MIT OR Apache-2.0
// A driver that compiles nothing would turn every kernel into this.
#version 460

layout(local_size_x_id = 0) in;

void main() {}
