package kube

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// LearnerKubeconfig returns a kubeconfig with the learner's identity and a
// context for each namespace, named after it; current is the chosen one.
//
// The token comes from a Secret of the ServiceAccount and not from a
// TokenRequest: the file is written once and must serve for as long as the
// cluster lives, whatever limit the API server sets on requested tokens, and
// deleting the Secret revokes it.
func (c *Client) LearnerKubeconfig(ctx context.Context, namespaces []string, current string) ([]byte, error) {
	token, err := c.learnerToken(ctx)
	if err != nil {
		return nil, err
	}
	cluster := clientcmdapi.NewCluster()
	cluster.Server = c.config.Host
	cluster.TLSServerName = c.config.ServerName
	cluster.InsecureSkipTLSVerify = c.config.Insecure
	cluster.CertificateAuthorityData = c.config.CAData
	if len(cluster.CertificateAuthorityData) == 0 && c.config.CAFile != "" {
		if cluster.CertificateAuthorityData, err = os.ReadFile(c.config.CAFile); err != nil {
			return nil, fmt.Errorf("write the learner's kubeconfig: %w", err)
		}
	}
	user := clientcmdapi.NewAuthInfo()
	user.Token = token

	file := clientcmdapi.NewConfig()
	file.Clusters[Manager] = cluster
	file.AuthInfos[LearnerAccount] = user
	for _, ns := range namespaces {
		context := clientcmdapi.NewContext()
		context.Cluster, context.AuthInfo, context.Namespace = Manager, LearnerAccount, ns
		file.Contexts[ns] = context
	}
	file.CurrentContext = current
	out, err := clientcmd.Write(*file)
	if err != nil {
		return nil, fmt.Errorf("write the learner's kubeconfig: %w", err)
	}
	return out, nil
}

// learnerToken makes the token's Secret where it is missing and waits until
// the controller manager has filled it.
func (c *Client) learnerToken(ctx context.Context) (string, error) {
	const op = "get the learner's token"
	secrets := c.typed.CoreV1().Secrets(SystemNamespace)
	secret := &corev1.Secret{ObjectMeta: managed(LearnerAccount + "-token"), Type: corev1.SecretTypeServiceAccountToken}
	secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: LearnerAccount}

	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var token string
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		have, err := secrets.Get(ctx, secret.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = secrets.Create(ctx, secret, metav1.CreateOptions{FieldManager: Manager})
			if apierrors.IsAlreadyExists(err) {
				err = nil
			}
			return false, err
		}
		if err != nil {
			return false, err
		}
		token = string(have.Data[corev1.ServiceAccountTokenKey])
		return token != "", nil
	})
	if err != nil {
		return "", classify(op, err)
	}
	return token, nil
}
