#include "histogram.cuh"

typedef IntegerBins<u32> Which;
HISTOGRAM(histogram_whole_32, Which)
