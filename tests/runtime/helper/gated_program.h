// Modes of forward_program for kernels with gates.
#pragma once

// Launches kernels that loop, with variables of their module, and checks every result as the host computes it. Prints
// how many launches there were and how many were right.
void gated(const char* length, const char* kind);
