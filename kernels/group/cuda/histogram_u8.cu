#include "histogram.cuh"

typedef RealBins<PlainNumber<u8>> Which;
HISTOGRAM(histogram_u8, Which)
