package grader

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	celref "github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// celCost bounds one expression, in the units of Kubernetes' own limit for
// validation rules.
const celCost = 1_000_000

// celVariable is how the maps of objects are named inside; people write
// pod('web'), which a macro turns into the map's element.
const celVariable = "podproof_"

// celKinds maps the functions of expressions to the kinds that they read.
func celKinds() map[string]Kind {
	return map[string]Kind{
		"pod": KindPod, "deployment": KindDeployment, "job": KindJob, "cronjob": KindCronJob,
		"service": KindService, "configmap": KindConfigMap,
	}
}

func celEnv() (*cel.Env, error) {
	options := []cel.EnvOption{cel.EnableMacroCallTracking()}
	for name, kind := range celKinds() {
		variable := celVariable + string(kind)
		options = append(options,
			cel.Variable(variable, cel.MapType(cel.StringType, cel.DynType)),
			cel.Macros(cel.GlobalMacro(name, 1, func(f cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
				return f.NewCall(operators.Index, f.NewIdent(variable), args[0]), nil
			})))
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 35)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
	})
	if err != nil {
		return nil, fmt.Errorf("make the CEL environment: %w", err)
	}
	return set.NewExpressionsEnv(), nil
}

// expression is one compiled CEL expression.
type expression struct {
	ast *cel.Ast
	// run decides; explain keeps the value of every part as well.
	run, explain cel.Program
	reads        []ref
}

func compileCEL(text string) (*expression, error) {
	env, err := celEnv()
	if err != nil {
		return nil, err
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if t := compiled.OutputType(); t != cel.BoolType && t != cel.DynType {
		return nil, fmt.Errorf("the expression gives a %s, not true or false", t)
	}
	e := &expression{ast: compiled}
	if e.run, err = env.Program(compiled, cel.CostLimit(celCost)); err != nil {
		return nil, err
	}
	if e.explain, err = env.Program(compiled, cel.CostLimit(celCost), cel.EvalOptions(cel.OptTrackState)); err != nil {
		return nil, err
	}
	e.reads = readsOf(compiled.NativeRep().Expr())
	return e, nil
}

// readsOf lists the objects that an expression names by a constant; an object
// named by a computed text has an empty name here.
func readsOf(root ast.Expr) []ref {
	var out []ref
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
			return
		}
		args := e.AsCall().Args()
		if args[0].Kind() != ast.IdentKind {
			return
		}
		kind, ok := strings.CutPrefix(args[0].AsIdent(), celVariable)
		if !ok {
			return
		}
		r := ref{kind: Kind(kind)}
		if args[1].Kind() == ast.LiteralKind {
			if name, ok := args[1].AsLiteral().Value().(string); ok {
				r.name = name
			}
		}
		out = append(out, r)
	}))
	return out
}

// cel judges by an expression over the namespace's objects.
func (c *compiler) cel(text string) {
	if strings.Contains(text, "{{nonce}}") {
		c.problem("cel: an expression reads objects; they cannot hold {{nonce}}")
		return
	}
	e, err := compileCEL(text)
	if err != nil {
		c.problem("cel: %w", err)
		return
	}
	if len(e.reads) == 0 {
		c.problem("cel: the expression reads no object: its value never changes")
	}
	rank := Declared
	if strings.Contains(text, ".status") {
		rank = Reported
	}
	for _, r := range e.reads {
		c.see(kindsFor(r.kind)...)
	}
	c.look(rank, 0, func(s *scene) finding { return e.judge(s, text) })
}

func (e *expression) judge(s *scene, text string) finding {
	for _, r := range e.reads {
		if r.name == "" {
			continue
		}
		if o, f := s.subject(r); o == nil {
			return f
		}
	}
	objects := &activation{snapshot: s.Snapshot, kinds: map[string]any{}}
	value, _, err := e.run.Eval(objects)
	if err == nil && value.Value() == true {
		return pass(Msg("cel.true", "expression", text)).show(text)
	}
	_, details, again := e.explain.Eval(objects)
	var parts string
	if details != nil {
		parts = e.parts(details.State())
	}
	if err == nil {
		err = again
	}
	if err == nil {
		return fail(Msg("cel.false", "expression", text)).show(parts)
	}
	if strings.Contains(err.Error(), "no such key") {
		return fail(Msg("cel.noKey", "expression", text, "error", err.Error())).show(parts)
	}
	return fault(Msg("cel.error", "expression", text, "error", err.Error())).show(parts).settle()
}

// parts tells the value of each part: of an && each side, of a comparison
// both operands.
func (e *expression) parts(state interpreter.EvalState) string {
	info := e.ast.NativeRep().SourceInfo()
	var lines []string
	tell := func(x ast.Expr, indent string) {
		if x.Kind() == ast.LiteralKind {
			return
		}
		source, err := cel.ExprToString(x, info)
		if err != nil {
			return
		}
		shown := "?"
		if v, ok := state.Value(x.ID()); ok {
			shown = celText(v)
		}
		lines = append(lines, indent+source+"  →  "+shown)
	}
	var visit func(x ast.Expr)
	visit = func(x ast.Expr) {
		if x.Kind() == ast.CallKind {
			call := x.AsCall()
			switch call.FunctionName() {
			case operators.LogicalAnd, operators.LogicalOr:
				for _, arg := range call.Args() {
					visit(arg)
				}
				return
			case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals,
				operators.Greater, operators.GreaterEquals, operators.In:
				tell(x, "")
				for _, arg := range call.Args() {
					tell(arg, "    ")
				}
				return
			case operators.LogicalNot:
				tell(x, "")
				visit(call.Args()[0])
				return
			}
		}
		tell(x, "")
	}
	visit(e.ast.NativeRep().Expr())
	return strings.Join(lines, "\n")
}

func celText(v celref.Val) string {
	out := text(v.Value())
	if len(out) > 200 {
		out = strings.ToValidUTF8(out[:200], "") + " …"
	}
	return out
}

// activation gives an expression the namespace's objects, kind by kind as it
// asks for them.
type activation struct {
	snapshot *Snapshot
	kinds    map[string]any
}

func (a *activation) Parent() interpreter.Activation { return nil }

func (a *activation) ResolveName(name string) (any, bool) {
	if objects, ok := a.kinds[name]; ok {
		return objects, true
	}
	kind, ok := strings.CutPrefix(name, celVariable)
	if !ok {
		return nil, false
	}
	objects := map[string]any{}
	for i := 0; a.snapshot.meta(Kind(kind), i) != nil; i++ {
		o := a.snapshot.object(Kind(kind), i)
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.value)
		if err != nil {
			continue // API types always convert
		}
		objects[o.name] = plain
	}
	a.kinds[name] = objects
	return objects, true
}
