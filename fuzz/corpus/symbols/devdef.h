// begin devdef.H file
// legal constant definitions

#define OBJECT_1 0
#define DEVICE_COUNTER_1 2
#define DEVICE_COUNTER_2 4

// end devdef.H file
