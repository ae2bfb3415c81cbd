"""A variational autoencoder: two heads, reparameterized noise, a divergence in closed form."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(10, 6), nn.Linear(6, 2), nn.Linear(6, 2)
        self.fc3, self.fc4 = nn.Linear(2, 6), nn.Linear(6, 10)

    def forward(self, x, noise):
        h1 = F.relu(self.fc1(x.view(-1, 10)))
        mu, logvar = self.fc21(h1), self.fc22(h1)
        z = mu + noise * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 10), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def main(capture=lambda step: step):
    draws = Draws()
    model = draws.fill(VAE())
    x, noise = draws.uniform(4, 10), draws.normal(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    @capture
    def step(x, noise):
        optimizer.zero_grad()
        loss = loss_function(model(x, noise)[0], x, *model(x, noise)[1:])
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x, noise).item() for _ in range(3)]
    q = torch.distributions.Normal(*[torch.zeros(2), torch.ones(2)])
    return {"losses": losses, "recon": model(x, noise)[0], "prior": q.log_prob(noise).sum(-1)}


if __name__ == "__main__":
    show(main())
