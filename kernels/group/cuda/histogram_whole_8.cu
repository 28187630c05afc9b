#include "histogram.cuh"

typedef IntegerBins<u8> Which;
HISTOGRAM(histogram_whole_8, Which)
