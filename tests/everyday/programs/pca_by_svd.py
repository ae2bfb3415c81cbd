"""Principal components by SVD and by eigh of the covariance, compared up to sign."""

TOL = (1e-3, 1e-3)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(108)
    mixing = r.normal(size=(4, 10))
    x = T.tensor((r.normal(size=(100, 4)) @ mixing + 0.1 * r.normal(size=(100, 10))).astype("float32"))
    centred = x - x.mean(dim=0, keepdim=True)
    u, s, vh = T.linalg.svd(centred, full_matrices=False)
    explained = s ** 2 / (len(x) - 1)
    ratio = explained / explained.sum()
    cov = centred.T @ centred / (x.shape[0] - 1)
    values, vectors = T.linalg.eigh(cov)
    values = values.flip(0)
    same = T.allclose(values, explained, rtol=1e-3, atol=1e-4)
    k = int((ratio.cumsum(0) < 0.99).sum()) + 1
    low = centred @ vh[:k].T
    back = low @ vh[:k] + x.mean(0)
    errors = [((centred - u[:, :j] * s[:j] @ vh[:j]) ** 2).mean().item() for j in range(1, 11)]
    whitened = low / low.std(dim=0)
    return {"explained": explained.numpy(), "k": k, "same": int(same), "errors": errors,
            "back": back.numpy(), "corr": T.corrcoef(x.T).numpy(), "cov": T.cov(whitened.T).abs().numpy()}
