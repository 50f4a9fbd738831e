// Parts of forward_program that show on which SMs launches run, and that the order of work is kept.
#pragma once

// Rounds of a launch of 264 blocks: the SMs on which the blocks of the last one ran. `kind` is stream, null, thread
// (the thread's own default stream), captured (the last one in a graph), context (one that is not the primary) or green
// (in turns with a green context of its own). `length`: see rounds.h.
void where(const char* kind, const char* length);

// Rounds of work in two streams, the NULL stream and the host that depend on each other; the number of rounds whose
// result is right, and of those in which questions about work that cannot be done yet had the right answers.
void ordered(const char* length);
