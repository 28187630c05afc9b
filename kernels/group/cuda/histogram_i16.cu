#include "histogram.cuh"

typedef RealBins<PlainNumber<i16>> Which;
HISTOGRAM(histogram_i16, Which)
