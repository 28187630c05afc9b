#include "histogram.cuh"

typedef RealBins<PlainNumber<u32>> Which;
HISTOGRAM(histogram_u32, Which)
