#include "histogram.cuh"

typedef RealBins<HalfNumber> Which;
HISTOGRAM(histogram_f16, Which)
