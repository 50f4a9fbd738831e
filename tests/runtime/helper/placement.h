// Parts of forward_program that show on which SMs launches run, and that the order of work is kept.
#pragma once

// N rounds of a launch of 264 blocks: the SMs on which the blocks of the last one ran. `kind` is stream, null, thread
// (the thread's own default stream), captured (the last one in a graph), context (one that is not the primary) or green
// (in turns with a green context of its own).
void where(const char* kind, int rounds);

// N rounds of work in two streams, the NULL stream and the host that depend on each other; the number of rounds whose
// result is right, and the results of questions about work that cannot be done yet.
void ordered(int rounds);
