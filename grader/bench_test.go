package grader_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podproof/podproof/grader"
)

// tenChecks are declared and reported checks of the kinds that tasks use most.
const tenChecks = `
- {id: labels, title: {en: x, ja: x}, pod: web, labels: {labels: {app: web}}}
- {id: image, title: {en: x, ja: x}, pod: web, fields: [{path: "container[web].image", equals: "nginx:1.27"}]}
- {id: grace, title: {en: x, ja: x}, pod: web, fields: [{path: spec.terminationGracePeriodSeconds, equals: 45}]}
- {id: native, title: {en: x, ja: x}, pod: web, nativeSidecar: {container: log, image: "busybox:1.36"}}
- {id: shared, title: {en: x, ja: x}, pod: web, sharedVolume: {type: emptyDir, mounts: {web: /logs, log: /logs}}}
- {id: order, title: {en: x, ja: x}, pod: web, initOrder: {containers: [a, b]}}
- {id: ready, title: {en: x, ja: x}, pod: web, status: {ready: true, maxRestarts: 0}}
- {id: memory, title: {en: x, ja: x}, pod: web, resources: {container: web, limits: {memory: 64Mi}}}
- {id: job, title: {en: x, ja: x}, job: count, jobSpec: {completions: 2, condition: Complete}}
- {id: cron, title: {en: x, ja: x}, cronJob: tick, cronJobSpec: {schedule: "*/5 * * * *", concurrencyPolicy: Forbid}}
`

const tenObjects = `
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 45
  volumes: [{name: v, emptyDir: {}}]
  initContainers:
  - {name: log, image: "busybox:1.36", restartPolicy: Always, volumeMounts: [{name: v, mountPath: /logs}]}
  - {name: a}
  - {name: b}
  containers: [{name: web, image: "nginx:1.27", resources: {limits: {memory: 64Mi}}, volumeMounts: [{name: v, mountPath: /logs}]}]
status:
  phase: Running
  conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-15T11:58:10Z"}]
  initContainerStatuses:
  - {name: log, started: true, ready: true, state: {running: {startedAt: "2026-01-15T11:58:02Z"}}}
  - {name: a, state: {terminated: {exitCode: 0, startedAt: "2026-01-15T11:58:02Z", finishedAt: "2026-01-15T11:58:03Z"}}}
  - {name: b, state: {terminated: {exitCode: 0, startedAt: "2026-01-15T11:58:03Z", finishedAt: "2026-01-15T11:58:04Z"}}}
  containerStatuses: [{name: web, ready: true, started: true, state: {running: {startedAt: "2026-01-15T11:58:05Z"}}}]
---
kind: Job
metadata: {name: count}
spec: {completions: 2, parallelism: 1, template: {spec: {containers: [{name: c}]}}}
status: {succeeded: 2, conditions: [{type: Complete, status: "True"}]}
---
kind: CronJob
metadata: {name: tick}
spec: {schedule: "*/5 * * * *", concurrencyPolicy: Forbid, jobTemplate: {spec: {template: {spec: {}}}}}
`

// BenchmarkEvaluate10Checks is one live re-evaluation from a snapshot, in a
// namespace that holds other Pods as well.
func BenchmarkEvaluate10Checks(b *testing.B) {
	var objects strings.Builder
	objects.WriteString(tenObjects)
	for i := range 20 {
		fmt.Fprintf(&objects, "---\nkind: Pod\nmetadata: {name: other-%d}\nspec: {containers: [{name: c, image: nginx}]}\n", i)
	}
	cluster := grader.Replay(&grader.Evidence{Snapshot: snapshot(b, objects.String())})
	program, err := grader.Compile(instance(b, tenChecks))
	if err != nil {
		b.Fatal(err)
	}
	if r := program.Evaluate(b.Context(), cluster, grader.Options{Mode: grader.Live}); r.Verdict() != grader.Pass {
		b.Fatal(details(r))
	}
	b.ReportAllocs()
	for b.Loop() {
		program.Evaluate(b.Context(), cluster, grader.Options{Mode: grader.Live})
	}
}
