package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gpuframe/gpuframe/observe"
)

// labelCache has the labels of tags from one scrape to the next.
type labelCache struct {
	known map[tagKey][]*dto.LabelPair
}

// tagKey identifies a tag of a topmost manager.
type tagKey struct{ device, manager, tag string }

// managerTags are the labels of the tags of a topmost manager.
type managerTags struct {
	// title is the label of the manager: metrics of two managers differ in it or in the
	// device.
	title  string
	labels [][]*dto.LabelPair
}

// labelsOf returns the labels of all topmost managers, and forgets those that are not needed.
func (c *labelCache) labelsOf(s *observe.Snapshot) []managerTags {
	used := make(map[tagKey][]*dto.LabelPair, len(c.known))
	titles := make(map[tagKey]int)
	list := make([]managerTags, len(s.Managers))
	for i := range s.Managers {
		top := &s.Managers[i]
		title := top.Name
		same := tagKey{device: top.Device, manager: title}
		if titles[same]++; titles[same] > 1 {
			title += " " + strconv.Itoa(titles[same])
		}
		list[i] = managerTags{title, make([][]*dto.LabelPair, len(top.Tags))}
		for j := range top.Tags {
			key := tagKey{top.Device, title, top.Tags[j].Name}
			if _, twice := used[key]; twice {
				continue // the registry refuses two metrics with the same labels
			}
			labels := c.known[key]
			if labels == nil {
				labels = prometheus.MakeLabelPairs(tagInUse.desc, []string{key.device, key.manager, key.tag})
			}
			used[key], list[i].labels[j] = labels, labels
		}
	}
	c.known = used
	return list
}

// collect sends the metrics of the tags.
func (m *managerTags) collect(to chan<- prometheus.Metric, tags []observe.Tag) {
	for i, labels := range m.labels {
		if labels == nil {
			continue
		}
		to <- tagMetric{tagInUse.desc, labels, float64(tags[i].InUse)}
		to <- tagMetric{tagPeak.desc, labels, float64(tags[i].Peak)}
	}
}

// tagMetric is a gauge with labels that were made before.
type tagMetric struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	value  float64
}

// Desc implements prometheus.Metric.
func (m tagMetric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric.
func (m tagMetric) Write(out *dto.Metric) error {
	out.Label = m.labels
	out.Gauge = &dto.Gauge{Value: &m.value}
	return nil
}
