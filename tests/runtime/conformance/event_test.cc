// Events, user events, callbacks, order and profiling through the client library.
#include <atomic>
#include <thread>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

TEST(Events, CommandsWaitForAUserEvent) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_int status = 1;
    cl_event user = clCreateUserEvent(s.context, &status);
    t.say("create", status);
    t.say("submitted", status_of(user));
    cl_mem memory = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    std::vector<char> bytes(64, 5), back(64, 0);
    cl_event written = nullptr;
    t.say("write", clEnqueueWriteBuffer(s.queue, memory, CL_FALSE, 0, 64, bytes.data(), 1, &user, &written));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    t.say("still waiting", status_of(written) > CL_COMPLETE ? 1 : 0);
    t.say("set wrong", clSetUserEventStatus(user, CL_RUNNING));
    t.say("set", clSetUserEventStatus(user, CL_COMPLETE));
    t.say("set twice", clSetUserEventStatus(user, CL_COMPLETE));
    t.say("wait", clWaitForEvents(1, &written));
    t.say("complete", status_of(written));
    t.say("read", clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr));
    t.say("same", back == bytes ? 1 : 0);
    cl_command_type type = 0;
    clGetEventInfo(written, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    t.say("type", type);
    clGetEventInfo(user, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    t.say("type", type);
    clReleaseEvent(written);
    clReleaseEvent(user);
    clReleaseMemObject(memory);
  });
}

TEST(Events, AFailedUserEventFailsItsDependents) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_event user = clCreateUserEvent(s.context, nullptr);
    cl_mem memory = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    std::vector<char> bytes(64, 5);
    cl_event written = nullptr;
    clEnqueueWriteBuffer(s.queue, memory, CL_FALSE, 0, 64, bytes.data(), 1, &user, &written);
    t.say("set", clSetUserEventStatus(user, -7));
    t.say("user", status_of(user));
    t.say("wait", clWaitForEvents(1, &written));
    t.say("failed", status_of(written) < 0 ? 1 : 0);
    clReleaseEvent(written);
    clReleaseEvent(user);
    clReleaseMemObject(memory);
  });
}

TEST(Events, CallsHaveTheSameErrors) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_event user = clCreateUserEvent(s.context, nullptr);
    t.say("wait for none", clWaitForEvents(0, &user));
    t.say("wait for nothing", clWaitForEvents(1, nullptr));
    cl_event none = nullptr;
    t.say("wait for null", clWaitForEvents(1, &none));
    cl_ulong time = 0;
    t.say("profile user", clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr));
    t.say("callback wrong", clSetEventCallback(
                                user, CL_QUEUED + 1, [](cl_event, cl_int, void*) {}, nullptr));
    t.say("callback none", clSetEventCallback(user, CL_COMPLETE, nullptr, nullptr));
    t.say("marker nowhere", clEnqueueMarkerWithWaitList(nullptr, 0, nullptr, nullptr));
    cl_event marker = nullptr;
    t.say("marker", clEnqueueMarkerWithWaitList(s.queue, 0, nullptr, &marker));
    t.say("finish", clFinish(s.queue));
    t.say("complete", status_of(marker));
    t.say("set a marker", clSetUserEventStatus(marker, CL_COMPLETE));
    cl_uint count = 0;  // reference count of an event that no driver thread holds any more
    clGetEventInfo(user, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    t.say("references", count);
    t.say("unknown", clGetEventInfo(marker, 0x7777, sizeof count, &count, nullptr));
    clSetUserEventStatus(user, CL_COMPLETE);
    clReleaseEvent(marker);
    clReleaseEvent(user);
  });
}

TEST(Events, CallbacksAreCalled) {
  same_on_both([](const Side& s, Transcript& t) {
    std::atomic<int> calls{0}, sum{0};
    struct Both {
      std::atomic<int>*calls, *sum;
    } both{&calls, &sum};
    const auto call = [](cl_event, cl_int status, void* data) {
      auto* b = static_cast<Both*>(data);
      *b->sum += status;
      ++*b->calls;
    };
    cl_event user = clCreateUserEvent(s.context, nullptr), marker = nullptr;
    clEnqueueMarkerWithWaitList(s.queue, 1, &user, &marker);
    t.say("set", clSetEventCallback(marker, CL_COMPLETE, call, &both));
    t.say("set", clSetEventCallback(user, CL_COMPLETE, call, &both));
    t.say("none yet", calls.load());
    clSetUserEventStatus(user, CL_COMPLETE);
    clFinish(s.queue);
    for (int i = 0; i < 2000 && calls != 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    t.say("both", calls.load());
    t.say("complete", sum.load());
    clReleaseEvent(marker);
    clReleaseEvent(user);
  });
}

TEST(Events, ProfilingTimesAreInOrder) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem memory = clCreateBuffer(s.context, 0, 1 << 20, nullptr, nullptr);
    std::vector<char> bytes(1 << 20, 5);
    cl_event event = nullptr;
    clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, &event);
    cl_ulong last = 0;
    for (const cl_profiling_info name : {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                         CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END}) {
      cl_ulong time = 0;
      t.say("time", clGetEventProfilingInfo(event, name, sizeof time, &time, nullptr));
      t.say("in order", time >= last && time != 0 ? 1 : 0);
      last = time;
    }
    clReleaseEvent(event);
    clReleaseMemObject(memory);
  });
}

TEST(Events, AQueueOutOfOrderKeepsBarriersAndLists) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_int status = 1;
    cl_command_queue queue = clCreateCommandQueue(s.context, s.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    t.say("create", status);
    cl_mem memory = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    std::vector<char> ones(64, 1), twos(64, 2), back(64, 0);
    cl_event user = clCreateUserEvent(s.context, nullptr), late = nullptr, early = nullptr;
    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 64, ones.data(), 1, &user, &late);
    clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr);
    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 64, twos.data(), 0, nullptr, &early);
    clFlush(queue);
    // A driver need not reorder commands, and NVIDIA's does not; ours does.
    bool held_up = true;
    for (int i = 0; i < 2000 && held_up; ++i) {
      held_up = status_of(early) > CL_COMPLETE;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(s.ours && held_up);
    t.say("waits", status_of(late) > 0 ? 1 : 0);
    clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr);
    cl_event after = nullptr;
    clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, 64, back.data(), 0, nullptr, &after);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    t.say("behind the barrier", status_of(after) > 0 ? 1 : 0);
    clSetUserEventStatus(user, CL_COMPLETE);
    t.say("finish", clFinish(queue));
    EXPECT_TRUE(!s.ours || back[0] == 1);  // the command that waited for the user event wrote last
    for (cl_event e : {user, late, early, after}) clReleaseEvent(e);
    clReleaseMemObject(memory);
    clReleaseCommandQueue(queue);
  });
}

TEST(Events, ManyCommandsAllComplete) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_mem memory = clCreateBuffer(s.context, 0, 4, nullptr, nullptr);
    const int zero = 0;
    clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, 4, &zero, 0, nullptr, nullptr);
    const char* source = "kernel void inc(global int* x) { x[0] = x[0] + 1; }";
    cl_program program = build(s, source);
    cl_kernel kernel = clCreateKernel(program, "inc", nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    const std::size_t one = 1;
    std::vector<cl_event> events(500);
    for (cl_event& e : events) clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, &e);
    int result = 0;
    clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, 4, &result, 0, nullptr, nullptr);
    t.say("count", result);
    int complete = 0;
    for (cl_event e : events) {
      complete += status_of(e) == CL_COMPLETE ? 1 : 0;
      clReleaseEvent(e);
    }
    t.say("complete", complete);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(memory);
  });
}

}  // namespace
}  // namespace wm::runtime::test
