/* SPDX-License-Identifier: MIT */
/*
 * enum_process: the list of all processes and their ids, read as old Windows programs do: straight
 * from HKEY_PERFORMANCE_DATA, with bare pointers, in a buffer that grows until the answer fits.
 *
 * Compiles for Windows and for Linux (-fshort-wchar -fpermissive). It trusts the block, as the
 * programs of its time did; new programs should use <openperflib/block.h>.
 */
#include <windows.h>
#include <limits.h>
#include <iomanip>
#include <iostream>

using namespace std;

const DWORD BUFFER_STEP = 40960;
const DWORD PROCESS_OBJECT = 230;
const DWORD PROCESS_ID = 784;

/* The structure that follows this one, which is `bytes` long. */
static BYTE *following(void *structure, DWORD bytes)
{
    return (BYTE *)structure + bytes;
}

static PERF_OBJECT_TYPE *firstObject(PERF_DATA_BLOCK *block)
{
    return (PERF_OBJECT_TYPE *)following(block, block->HeaderLength);
}

static PERF_OBJECT_TYPE *nextObject(PERF_OBJECT_TYPE *object)
{
    return (PERF_OBJECT_TYPE *)following(object, object->TotalByteLength);
}

static PERF_COUNTER_DEFINITION *firstCounter(PERF_OBJECT_TYPE *object)
{
    return (PERF_COUNTER_DEFINITION *)following(object, object->HeaderLength);
}

static PERF_COUNTER_DEFINITION *nextCounter(PERF_COUNTER_DEFINITION *counter)
{
    return (PERF_COUNTER_DEFINITION *)following(counter, counter->ByteLength);
}

static PERF_INSTANCE_DEFINITION *firstInstance(PERF_OBJECT_TYPE *object)
{
    return (PERF_INSTANCE_DEFINITION *)following(object, object->DefinitionLength);
}

static PERF_COUNTER_BLOCK *counterBlock(PERF_INSTANCE_DEFINITION *instance)
{
    return (PERF_COUNTER_BLOCK *)following(instance, instance->ByteLength);
}

/* An instance is followed by its counter block, and that by the next instance. */
static PERF_INSTANCE_DEFINITION *nextInstance(PERF_INSTANCE_DEFINITION *instance)
{
    PERF_COUNTER_BLOCK *values = counterBlock(instance);
    return (PERF_INSTANCE_DEFINITION *)following(values, values->ByteLength);
}

/* The answer to a query, which the caller deletes; NULL: the error was printed. RegQueryValueEx
 * does not return the size that performance data needs, so the buffer grows until the answer
 * fits. */
static char *queryData(const char *query)
{
    DWORD capacity = BUFFER_STEP;
    for (;;) {
        char *data = new char[capacity];
        DWORD type, size = capacity;
        DWORD result = RegQueryValueEx(HKEY_PERFORMANCE_DATA, query, 0, &type, data, &size);
        if (result == ERROR_SUCCESS)
            return data;
        delete[] data;
        if (result != ERROR_MORE_DATA) {
            cerr << "enum_process: RegQueryValueEx failed with error " << result << endl;
            return NULL;
        }
        capacity += BUFFER_STEP;
    }
}

/* The offset of the process id in each counter block; ULONG_MAX: the object has no such counter. */
static DWORD processIdOffset(PERF_OBJECT_TYPE *object)
{
    PERF_COUNTER_DEFINITION *counter = firstCounter(object);
    for (DWORD i = 0; i < object->NumCounters; i++, counter = nextCounter(counter))
        if (counter->CounterNameTitleIndex == PROCESS_ID)
            return counter->CounterOffset;
    return (DWORD)ULONG_MAX;
}

static void printInstance(PERF_INSTANCE_DEFINITION *instance, DWORD idOffset)
{
    wchar_t *name = (wchar_t *)following(instance, instance->NameOffset);
    char text[1024] = "?";
    WideCharToMultiByte(CP_ACP, 0, name, -1, text, sizeof(text), NULL, NULL);
    cout << setw(8) << *(DWORD *)following(counterBlock(instance), idOffset) << "   " << text
         << "\n";
}

static int printProcesses(PERF_OBJECT_TYPE *object)
{
    DWORD idOffset = processIdOffset(object);
    if (idOffset == (DWORD)ULONG_MAX) {
        cerr << "enum_process: the process object has no counter 784 (ID Process)" << endl;
        return 1;
    }
    PERF_INSTANCE_DEFINITION *instance = firstInstance(object);
    for (LONG i = 0; i < object->NumInstances; i++, instance = nextInstance(instance))
        printInstance(instance, idOffset);
    return 0;
}

/* Finds the object Process, since an answer may have more objects than were requested, and prints
 * all instances. */
static int printAll(PERF_DATA_BLOCK *block)
{
    PERF_OBJECT_TYPE *object = firstObject(block);
    for (DWORD i = 0; i < block->NumObjectTypes; i++, object = nextObject(object))
        if (object->ObjectNameTitleIndex == PROCESS_OBJECT)
            return printProcesses(object);
    cerr << "enum_process: no answer about object 230 (Process); is its provider registered?"
         << endl;
    return 1;
}

int main()
{
    char *data = queryData("230");
    if (!data)
        return 1;
    int result = printAll((PERF_DATA_BLOCK *)data);
    delete[] data;
    if (!cout.flush()) {
        cerr << "enum_process: standard output cannot be written" << endl;
        return 1;
    }
    return result;
}
