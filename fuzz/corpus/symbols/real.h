/* a
#define NO 2 */
#ifndef G
#define G
#define OBJECT_1 0;
#  define	A -2 // x
#define M(x) 3
#define B 99999999999999999999UL#define C "4"
#define D '"'
#define a 4
#define A 6