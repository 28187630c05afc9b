#include "histogram.cuh"

typedef RealBins<PlainNumber<f64>> Which;
HISTOGRAM(histogram_f64, Which)
