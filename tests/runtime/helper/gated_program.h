// Modes of forward_program for kernels with gates.
#pragma once

// Launches kernels that loop, with variables of their module, and checks every result as the host computes it. Prints
// how many launches there were and how many were right. `kind`: a module or library in one thread, or threads,
// contexts, or a capture that is in progress.
void gated(const char* length, const char* kind);
