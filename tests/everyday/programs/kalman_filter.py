"""A Kalman filter and smoother for a point that moves in the plane."""


def main(T, nn, F, optim, np):
    r = np.random.default_rng(122)
    dt = 0.1
    A = T.eye(4)
    A[0, 2] = A[1, 3] = dt
    H = T.zeros(2, 4)
    H[0, 0] = H[1, 1] = 1.0
    Q, R = 0.01 * T.eye(4), 0.25 * T.eye(2)
    z = T.tensor(np.cumsum(r.normal(size=(40, 2)) * 0.3, axis=0).astype("float32"))
    x, P = T.zeros(4, 1), T.eye(4)
    I = T.eye(4)
    states, covs = [], []
    for k in range(len(z)):
        x = A @ x
        P = A @ P @ A.T + Q
        innovation = z[k].view(2, 1) - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ T.inverse(S)
        x = x + K @ innovation
        P = (I - K @ H) @ P
        states.append(x.squeeze(1))
        covs.append(P)
    smooth = states[-1]
    back = [smooth]
    for k in range(len(z) - 2, -1, -1):
        Pp = A @ covs[k] @ A.T + Q
        C = T.linalg.solve(Pp, A @ covs[k]).T
        smooth = states[k] + C @ (smooth - A @ states[k])
        back.insert(0, smooth)
    states = T.stack(states)
    return {"states": states.numpy(), "smooth": T.stack(back).numpy(), "trace": [T.trace(p).item() for p in covs[::10]]}
