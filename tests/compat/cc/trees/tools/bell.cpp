// SPDX-License-Identifier: MIT
// A library that a program is linked with: DllMain is called before main, and again at the end.
#include <windows.h>
#include <stdio.h>

struct Sound {
    const char *text;
    Sound() : text("ding") {}
};
static Sound sound; // made before DllMain is called
static int cRung;

BOOL WINAPI DllMain(HINSTANCE hInstance, DWORD dwReason, LPVOID)
{
    char szPath[MAX_PATH];
    if (dwReason == DLL_PROCESS_ATTACH && GetModuleFileNameA(hInstance, szPath, sizeof szPath))
        printf("attach %s %s\n", sound.text, strrchr(szPath, '\\') + 1);
    if (dwReason == DLL_PROCESS_DETACH)
        printf("detach after %d\n", cRung);
    return getenv("BELL_REFUSES") == NULL;
}

extern "C" __declspec(dllexport) int Ring(void)
{
    return ++cRung;
}
