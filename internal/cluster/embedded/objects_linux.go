package embedded

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

const (
	dnsUser    = "system:coredns"
	dnsService = "kube-dns"
	dnsPort    = 53
)

// ensureObjects makes what cluster DNS needs: permission to read, and the
// customary Service in front of the server, which runs on the node itself.
func ensureObjects(ctx context.Context, c kubernetes.Interface, s settings) error {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: dnsUser},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"endpoints", "services", "pods", "namespaces"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"list", "watch"}},
		},
	}
	_, err := c.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err := ignoreExisting(err); err != nil {
		return fmt.Errorf("let cluster DNS read: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: dnsUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: dnsUser},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: dnsUser}},
	}
	_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err := ignoreExisting(err); err != nil {
		return fmt.Errorf("let cluster DNS read: %w", err)
	}
	return ensureDNSService(ctx, c, s)
}

func ensureDNSService(ctx context.Context, c kubernetes.Interface, s settings) error {
	protocols := map[string]corev1.Protocol{"dns": corev1.ProtocolUDP, "dns-tcp": corev1.ProtocolTCP}
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: dnsService, Labels: map[string]string{"k8s-app": dnsService, "kubernetes.io/name": "CoreDNS"}},
		Spec:       corev1.ServiceSpec{ClusterIP: s.DNS.String()},
	}
	port, ready := int32(dnsPort), true
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: dnsService + "-node", Labels: map[string]string{
			discoveryv1.LabelServiceName: dnsService, discoveryv1.LabelManagedBy: "podproof.dev",
		}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{s.NodeIP.String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
	}
	for _, name := range []string{"dns", "dns-tcp"} {
		protocol := protocols[name]
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: name, Port: dnsPort, TargetPort: intstr.FromInt32(dnsPort), Protocol: protocol})
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: &name, Port: &port, Protocol: &protocol})
	}
	services := c.CoreV1().Services(metav1.NamespaceSystem)
	// Looked for first: creating it again is not "already exists" but a
	// complaint about its address, which is taken, by itself.
	_, err := services.Get(ctx, dnsService, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = services.Create(ctx, svc, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make the Service of cluster DNS: %w", err)
	}
	slices := c.DiscoveryV1().EndpointSlices(metav1.NamespaceSystem)
	_, err = slices.Create(ctx, slice, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// The node's address may have changed since the last start.
		_, err = slices.Update(ctx, slice, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("point cluster DNS at the node: %w", err)
	}
	return nil
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
