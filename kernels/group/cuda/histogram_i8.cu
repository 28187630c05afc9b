#include "histogram.cuh"

typedef RealBins<PlainNumber<i8>> Which;
HISTOGRAM(histogram_i8, Which)
