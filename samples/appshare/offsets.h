/* SPDX-License-Identifier: MIT */
/* The numbers of appshare's names, from First Counter on: for lodctr and for the compiler. */
#define APPSHARE_OBJECT 0
#define APPSHARE_STATUS 2
#define APPSHARE_DONE 4
#define APPSHARE_RATE 6
#define APPSHARE_WAITING 8
