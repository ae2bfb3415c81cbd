"""Early stopping: the best state_dict is kept by deepcopy, layers are frozen, then fine-tuned."""

import copy

TOL = (1e-3, 1e-4)


def main(T, nn, F, optim, np):
    r = np.random.default_rng(131)
    x = T.tensor(r.normal(size=(40, 5)).astype("float32"))
    y = x[:, :1] * 2 - x[:, 1:2] + 0.5 * T.tensor(r.normal(size=(40, 1)).astype("float32"))
    train, valid = (x[:25], y[:25]), (x[25:], y[25:])
    net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(T.tensor((r.normal(size=tuple(p.shape)) * 0.5).astype("float32")))
    for p in net[0].parameters():
        p.requires_grad = False
    opt = optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
    best, wait, kept, log = float("inf"), 0, None, []
    for epoch in range(40):
        if epoch == 12:
            for p in net[0].parameters():
                p.requires_grad_(True)
            opt.add_param_group({"params": net[0].parameters(), "lr": 0.01})
        net.train()
        opt.zero_grad()
        F.mse_loss(net(train[0]), train[1]).backward()
        opt.step()
        net.eval()
        with T.no_grad():
            loss = F.mse_loss(net(valid[0]), valid[1]).item()
        log.append(loss)
        if loss < best - 1e-4:
            best, wait, kept = loss, 0, copy.deepcopy(net.state_dict())
        else:
            wait += 1
            if wait >= 6:
                break
    net.load_state_dict(kept)
    return {"log": log, "best": best, "epochs": epoch, "w": net[0].weight.detach().numpy(),
            "keys": ",".join(kept)}
