#include "histogram.cuh"

typedef IntegerBins<u16> Which;
HISTOGRAM(histogram_whole_16, Which)
