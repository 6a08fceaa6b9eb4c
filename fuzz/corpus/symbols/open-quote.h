#define A "\
#define B 4
#define
#define 5 6
#