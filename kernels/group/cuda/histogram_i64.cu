#include "histogram.cuh"

typedef RealBins<PlainNumber<i64>> Which;
HISTOGRAM(histogram_i64, Which)
