/* SPDX-License-Identifier: MIT */
/* Reads the last object of the answer as existing programs for Windows do: they read a counter
 * block after the definitions even if the object has no instances. */
#include <windows.h>
#include <winperf.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static BYTE data[1 << 20];
    DWORD size = sizeof data, i;
    BYTE *at, *end;
    PERF_DATA_BLOCK *block = (PERF_DATA_BLOCK *)data;
    PERF_OBJECT_TYPE *object;
    if (RegQueryValueEx(HKEY_PERFORMANCE_DATA, argv[1], NULL, NULL, data, &size) != ERROR_SUCCESS ||
        !block->NumObjectTypes)
        return 2;
    at = data + block->HeaderLength;
    for (i = 1; i < block->NumObjectTypes; i++)
        at += ((PERF_OBJECT_TYPE *)at)->TotalByteLength;
    object = (PERF_OBJECT_TYPE *)at;
    end = at + object->DefinitionLength + ((PERF_COUNTER_DEFINITION *)(object + 1))->CounterOffset +
          sizeof(LONGLONG);
    printf("%ld instances, %s\n", object->NumInstances,
           end <= data + size && end <= data + block->TotalByteLength &&
                   end <= at + object->TotalByteLength
               ? "inside"
               : "outside");
    return 0;
}
