package kube

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podproof/podproof/grader"
	"github.com/podproof/podproof/labs"
)

// ObjectRef names an object within a namespace.
type ObjectRef struct {
	// APIVersion may be empty for the kinds that checks can mention.
	APIVersion string
	Kind       string // "Pod"
	Name       string
}

func (r ObjectRef) String() string { return r.Kind + "/" + r.Name }

// Objects lists every object that the instance's setup, checks and reference
// solution name, without duplicates.
func Objects(inst *labs.Instance) ([]ObjectRef, error) {
	var refs []ObjectRef
	seen := map[string]bool{}
	add := func(apiVersion, kind, name string) {
		ref := ObjectRef{APIVersion: apiVersion, Kind: kind, Name: name}
		if name != "" && !seen[ref.String()] {
			seen[ref.String()] = true
			refs = append(refs, ref)
		}
	}
	manifests := []string{inst.Setup}
	if !inst.Answer.Shell() {
		manifests = append(manifests, inst.Answer.Text)
	}
	for _, m := range manifests {
		objects, err := parse(m)
		if err != nil {
			return nil, fmt.Errorf("objects of %s: %w", inst.Task.Ref, err)
		}
		for _, o := range objects {
			add(o.GetAPIVersion(), o.GetKind(), o.GetName())
		}
	}
	for i := range inst.Checks {
		c := &inst.Checks[i]
		add("", string(grader.KindPod), c.Pod)
		add("", string(grader.KindDeployment), c.Deployment)
		add("", string(grader.KindJob), c.Job)
		add("", string(grader.KindCronJob), c.CronJob)
		add("", string(grader.KindService), c.Service)
		add("", string(grader.KindConfigMap), c.ConfigMap)
		add("", string(grader.KindSecret), c.Secret)
		if c.CronJobSpec != nil {
			add("", string(grader.KindJob), c.CronJobSpec.ManualJob)
		}
		if c.Ambassador != nil {
			name, _, _ := strings.Cut(c.Ambassador.Backend, ":")
			add("", string(grader.KindService), name)
		}
		for _, m := range celObject.FindAllStringSubmatch(c.CEL, -1) {
			for _, kind := range namedKinds() {
				if strings.EqualFold(m[1], string(kind)) {
					add("", string(kind), m[2])
				}
			}
		}
	}
	return refs, nil
}

// celObject finds pod('web') and its like in an expression.
var celObject = regexp.MustCompile(`\b([A-Za-z]+)\(['"]([a-z0-9.-]+)['"]\)`)

// namedKinds are the kinds that a check can call by name.
func namedKinds() []grader.Kind {
	return []grader.Kind{
		grader.KindPod, grader.KindDeployment, grader.KindJob, grader.KindCronJob,
		grader.KindService, grader.KindConfigMap, grader.KindSecret,
	}
}

// resource finds the API resource of a reference; namespaced is false for
// what belongs to the whole cluster.
func (c *Client) resource(ref ObjectRef) (r schema.GroupVersionResource, namespaced bool, err error) {
	if ref.APIVersion == "" {
		r, err = resourceOf(grader.Kind(ref.Kind))
		return r, true, err
	}
	mapping, err := c.mapping(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if err != nil {
		return r, false, err
	}
	return mapping.Resource, mapping.Scope.Name() == "namespace", nil
}
