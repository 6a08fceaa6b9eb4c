// SPDX-License-Identifier: MIT
// A provider in C++ whose exception leaves Collect.
#include <stdexcept>

extern "C" __attribute__((visibility("default"))) unsigned lie_open(void *)
{
    return 0;
}

extern "C" __attribute__((visibility("default"))) unsigned lie_close()
{
    return 0;
}

extern "C" __attribute__((visibility("default"))) unsigned lie_good(void *, void **, unsigned *,
                                                                    unsigned *)
{
    throw std::runtime_error("not caught here");
}
