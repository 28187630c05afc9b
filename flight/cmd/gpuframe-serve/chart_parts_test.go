package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChartVariablesAreStrings(t *testing.T) {
	_, container := pod(t, render(t, object{"environment": object{
		"GPUFRAME_SERVE_ANONYMOUS": true, "GPUFRAME_SERVE_BUDGET": 68719476736, "GPUFRAME_SERVE_STREAMS": 8, "RATIO": 0.5, "EMPTY": "", "WORD": "true", "GPUFRAME_SERVE_DRAIN": nil,
	}})["Deployment"])
	variables := variablesOf(t, container)
	for name, want := range map[string]string{
		"GPUFRAME_SERVE_ANONYMOUS": "true", "GPUFRAME_SERVE_BUDGET": "68719476736", "GPUFRAME_SERVE_STREAMS": "8", "RATIO": "0.5", "EMPTY": "", "WORD": "true",
	} {
		require.Equal(t, want, variables[name], name)
	}
	require.NotContains(t, variables, "GPUFRAME_SERVE_DRAIN")
}

// TestChartWithoutParts leaves out one part at a time. The rest is that of the chart's own values.
func TestChartWithoutParts(t *testing.T) {
	variable := func(name string) func(object) {
		return func(container object) {
			variables := container["env"].([]any)
			for i, each := range variables {
				if each.(object)["name"] == name {
					container["env"] = append(variables[:i:i], variables[i+1:]...)
				}
			}
		}
	}
	mount := func(i int) func(object) {
		return func(container object) {
			mounts := container["volumeMounts"].([]any)
			container["volumeMounts"] = append(mounts[:i:i], mounts[i+1:]...)
		}
	}
	member := func(names ...string) func(object) {
		return func(container object) {
			for _, name := range names {
				delete(container, name)
			}
		}
	}
	host := func(container object) {
		delete(container["resources"].(object)["limits"].(object), "nvidia.com/gpu")
		container["env"] = append(container["env"].([]any), object{"name": "GPUFRAME_SERVE_DEVICE", "value": "host"}, object{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"})
	}
	noHealth := []func(object){member("livenessProbe", "readinessProbe"), variable("GPUFRAME_SERVE_HEALTH"), func(container object) {
		container["ports"] = container["ports"].([]any)[:1]
	}}
	noClaim := []func(object){mount(0), variable("GPUFRAME_SERVE_TABLE")}
	noClients := []func(object){mount(1), variable("GPUFRAME_SERVE_CLIENTS")}
	for _, test := range []struct {
		name    string
		values  object
		changes []func(container object)
	}{
		{"probes", object{"probes": nil}, []func(object){member("livenessProbe", "readinessProbe")}},
		{"liveness", object{"probes": object{"liveness": nil}}, []func(object){member("livenessProbe")}},
		{"readiness", object{"probes": object{"readiness": nil}}, []func(object){member("readinessProbe")}},
		{"health", object{"ports": object{"health": nil}}, noHealth},
		{"empty health", object{"ports": object{"health": ""}}, noHealth},
		{"resources", object{"resources": nil}, []func(object){func(container object) {
			container["resources"] = object{"limits": object{"nvidia.com/gpu": 1}}
		}}},
		{"requests", object{"resources": object{"requests": nil}}, []func(object){func(container object) {
			delete(container["resources"].(object), "requests")
		}}},
		{"resources and GPU", object{"resources": nil, "gpu": nil}, []func(object){host, member("resources")}},
		{"GPU", object{"gpu": nil}, []func(object){host}},
		{"count of GPUs", object{"gpu": object{"count": 0}}, []func(object){host}},
		{"data", object{"data": nil}, noClaim},
		{"claim", object{"data": object{"claim": ""}}, noClaim},
		{"tables", object{"data": object{"tables": ""}}, noClaim[1:]},
		{"table", object{"environment": object{"GPUFRAME_SERVE_TABLE": ""}}, noClaim[1:]},
		{"clients", object{"clients": nil}, noClients},
		{"secret of clients", object{"clients": object{"secret": ""}}, noClients},
		{"TLS", object{"tls": nil}, nil},
		{"environment", object{"environment": nil}, []func(object){variable("GPUFRAME_SERVE_DRAIN"), variable("GPUFRAME_SERVE_BUDGET")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, want := pod(t, render(t, nil)["Deployment"])
			for _, change := range test.changes {
				change(want)
			}
			objects := render(t, test.values)
			specification, container := pod(t, objects["Deployment"])
			require.ElementsMatch(t, want["env"], container["env"])
			delete(want, "env")
			delete(container, "env")
			require.Equal(t, want, container)
			var mounts, volumes []any
			for _, each := range container["volumeMounts"].([]any) {
				mounts = append(mounts, each.(object)["name"])
			}
			for _, each := range specification["volumes"].([]any) {
				volumes = append(volumes, each.(object)["name"])
			}
			require.Equal(t, mounts, volumes)
			require.Contains(t, objects, "Service")
		})
	}
	require.Len(t, render(t, object{"service": nil}), 1)
}

func TestChartTables(t *testing.T) {
	for _, test := range []struct {
		name   string
		values object
		want   string
	}{
		{"of the claim", object{"data": object{"tables": "a=/data/a.parquet\nb=/data/b/*.csv"}}, "a=/data/a.parquet\nb=/data/b/*.csv"},
		{"of the environment", object{"environment": object{"GPUFRAME_SERVE_TABLE": "a=s3://bucket/a"}}, "a=s3://bucket/a"},
		{"without a claim", object{"data": nil, "environment": object{"GPUFRAME_SERVE_TABLE": "a=s3://bucket/a"}}, "a=s3://bucket/a"},
	} {
		_, container := pod(t, render(t, test.values)["Deployment"])
		require.Equal(t, test.want, variablesOf(t, container)["GPUFRAME_SERVE_TABLE"], test.name)
	}
}

func TestChartNamesAreStrings(t *testing.T) {
	objects := render(t, object{"fullnameOverride": "2026", "image": object{"tag": ""}, "clients": object{"secret": "12"}, "data": object{"claim": "null"}})
	for _, each := range objects {
		require.Equal(t, "2026", each["metadata"].(object)["name"])
	}
	deployment, service := objects["Deployment"], objects["Service"]
	app := object{"app": "2026"}
	require.Equal(t, app, deployment["metadata"].(object)["labels"])
	require.Equal(t, app, deployment["spec"].(object)["selector"].(object)["matchLabels"])
	require.Equal(t, app, deployment["spec"].(object)["template"].(object)["metadata"].(object)["labels"])
	require.Equal(t, app, service["spec"].(object)["selector"])
	specification, container := pod(t, deployment)
	require.Equal(t, "gpuframe-serve:1.2.3", container["image"])
	volumes := specification["volumes"].([]any)
	require.Equal(t, "null", volumes[0].(object)["persistentVolumeClaim"].(object)["claimName"])
	require.Equal(t, "12", volumes[1].(object)["secret"].(object)["secretName"])

	_, container = pod(t, render(t, object{"image": object{"tag": 20261130}})["Deployment"])
	require.Equal(t, "gpuframe-serve:20261130", container["image"])
}
