#include "histogram.cuh"

typedef RealBins<PlainNumber<f32>> Which;
HISTOGRAM(histogram_f32, Which)
