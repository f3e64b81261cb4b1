// Counts allocations in this test program.
#include "base/count_allocations_testing.h"
