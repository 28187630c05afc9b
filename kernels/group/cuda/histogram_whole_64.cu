#include "histogram.cuh"

typedef IntegerBins<u64> Which;
HISTOGRAM(histogram_whole_64, Which)
