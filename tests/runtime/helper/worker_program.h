// Modes of forward_program for kernels that run as workers.
#pragma once

// Launches a kernel of many blocks whose other threads end early, one with shared memory, a barrier and a grid of two
// dimensions, and one without parameters; in a stream, in the NULL stream and by cuLaunchKernelEx with a buffer of
// parameters. Prints how many rounds there were, how many were right to the bit with every block run once, the SMs of
// all launches (their number, first and last), and the most SMs of a single one.
void visits(const char* length);
// Launches a short kernel that waits in its stream until the other threads of the process, of which only the
// connection's has something to do, have worked and slept some times. Prints the number of rounds, and of those that
// were right.
void behind(const char* length);
// Launches a kernel again and again, and then once for some seconds at least.
void lasts(const char* length);
// Launches 30 kernels, each of which takes long to make workers of.
void many(const char* length);
// Ends while the thread of the connection makes workers of a kernel. Writes the milliseconds for which other threads
// have worked in the 20 after the functions that were registered for the end of the process.
void leave();
