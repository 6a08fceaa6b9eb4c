#define дц 2
#define –Ь 4
#define А 0x1
#define € 7#define Z 8