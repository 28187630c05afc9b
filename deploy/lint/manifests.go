package lint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// Decode returns the objects of a text of YAML. A field that the type of its object does not have, a field that stands
// twice, and a value that is not of the field's type are errors.
func Decode(text []byte) ([]runtime.Object, error) {
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []runtime.Object
	var faults []error
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, errors.Join(faults...)
		}
		if err != nil {
			return objects, errors.Join(append(faults, err)...)
		}
		if content, err := yaml.ToJSON(document); err == nil && string(content) == "null" {
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			faults = append(faults, fmt.Errorf("document %d: %w", number, err))
			continue
		}
		objects = append(objects, object)
	}
}

// Manifests checks the objects of a text of YAML as [Decode] does. Then it checks what types do not have: names that
// refer to others, such as those of volumes and ports, and the forms of names. The selector of a Service must select
// the pods of a Deployment of the text.
func Manifests(text []byte) error {
	objects, err := Decode(text)
	if err != nil {
		return err
	}
	var check checker
	for _, object := range objects {
		if deployment, ok := object.(*apps.Deployment); ok {
			check.deployment(deployment)
		}
	}
	for _, object := range objects {
		if service, ok := object.(*core.Service); ok {
			check.service(service, objects)
		}
	}
	return errors.Join(check.faults...)
}

// A checker collects faults.
type checker struct{ faults []error }

func (c *checker) add(format string, arguments ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, arguments...))
}

// form adds the messages of a function of package validation.
func (c *checker) form(what, name string, messages []string) {
	for _, message := range messages {
		c.add("%s %q: %s", what, name, message)
	}
}

func (c *checker) deployment(deployment *apps.Deployment) {
	template := &deployment.Spec.Template
	selector, err := meta.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		c.add("deployment %s: selector: %w", deployment.Name, err)
	} else if selector.Empty() || !selector.Matches(labels.Set(template.Labels)) {
		c.add("deployment %s: the selector %q does not select its pods", deployment.Name, selector)
	}
	var volumes []string
	for _, volume := range template.Spec.Volumes {
		c.form("volume", volume.Name, validation.IsDNS1123Label(volume.Name))
		volumes = append(volumes, volume.Name)
	}
	for _, container := range template.Spec.Containers {
		c.form("container", container.Name, validation.IsDNS1123Label(container.Name))
		c.container(&container, volumes)
	}
}

func (c *checker) container(container *core.Container, volumes []string) {
	for _, mount := range container.VolumeMounts {
		if !slices.Contains(volumes, mount.Name) {
			c.add("container %s mounts %q, which is no volume of its pod", container.Name, mount.Name)
		}
	}
	variables := map[string]bool{}
	for _, variable := range container.Env {
		c.form("variable", variable.Name, validation.IsEnvVarName(variable.Name))
		if variables[variable.Name] {
			c.add("container %s has two values of %s", container.Name, variable.Name)
		}
		variables[variable.Name] = true
	}
	for _, port := range container.Ports {
		c.form("port", port.Name, validation.IsValidPortName(port.Name))
		c.form("port", port.Name, validation.IsValidPortNum(int(port.ContainerPort)))
	}
	for name, probe := range map[string]*core.Probe{
		"livenessProbe": container.LivenessProbe, "readinessProbe": container.ReadinessProbe, "startupProbe": container.StartupProbe,
	} {
		if port := portOf(probe); port != nil && !hasPort(container.Ports, *port) {
			c.add("%s of container %s: no port %s", name, container.Name, port)
		}
	}
	for resource, limit := range container.Resources.Limits {
		if request, ok := container.Resources.Requests[resource]; ok && request.Cmp(limit) > 0 {
			c.add("container %s requests %s of %s, above its limit of %s", container.Name, &request, resource, &limit)
		}
	}
}

// portOf returns the port that a probe asks, or nil.
func portOf(probe *core.Probe) *intstr.IntOrString {
	switch {
	case probe == nil:
	case probe.HTTPGet != nil:
		return &probe.HTTPGet.Port
	case probe.TCPSocket != nil:
		return &probe.TCPSocket.Port
	case probe.GRPC != nil:
		port := intstr.FromInt32(probe.GRPC.Port)
		return &port
	}
	return nil
}

// hasPort reports whether a port is one of the ports of a container, by its name or number.
func hasPort(ports []core.ContainerPort, port intstr.IntOrString) bool {
	return slices.ContainsFunc(ports, func(each core.ContainerPort) bool {
		return port.Type == intstr.String && each.Name == port.StrVal || port.Type == intstr.Int && each.ContainerPort == port.IntVal
	})
}

func (c *checker) service(service *core.Service, objects []runtime.Object) {
	c.form("service", service.Name, validation.IsDNS1035Label(service.Name))
	if len(service.Spec.Selector) == 0 {
		c.add("service %s has no selector", service.Name)
		return
	}
	for _, object := range objects {
		deployment, ok := object.(*apps.Deployment)
		if !ok || !labels.SelectorFromValidatedSet(service.Spec.Selector).Matches(labels.Set(deployment.Spec.Template.Labels)) {
			continue
		}
		var ports []core.ContainerPort
		for _, container := range deployment.Spec.Template.Spec.Containers {
			ports = append(ports, container.Ports...)
		}
		for _, port := range service.Spec.Ports {
			c.form("port", port.Name, validation.IsValidPortNum(int(port.Port)))
			target := port.TargetPort
			if target == (intstr.IntOrString{}) {
				target = intstr.FromInt32(port.Port)
			}
			if !hasPort(ports, target) {
				c.add("service %s: no container of deployment %s has the port %s", service.Name, deployment.Name, &target)
			}
		}
		return
	}
	c.add("service %s selects no pods of a deployment", service.Name)
}
