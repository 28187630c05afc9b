#include "histogram.cuh"

typedef RealBins<PlainNumber<u64>> Which;
HISTOGRAM(histogram_u64, Which)
