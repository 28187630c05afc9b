#include "histogram.cuh"

typedef RealBins<PlainNumber<u16>> Which;
HISTOGRAM(histogram_u16, Which)
