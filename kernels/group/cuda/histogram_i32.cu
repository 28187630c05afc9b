#include "histogram.cuh"

typedef RealBins<PlainNumber<i32>> Which;
HISTOGRAM(histogram_i32, Which)
