"""Two networks against each other: one step each, as the DCGAN tutorial takes them."""

import torch

from tests.programs.drawing import Draws, show

TOLERANCE = 1e-4


def main(capture=lambda step: step):
    draws = Draws()
    nn = torch.nn

    def weights_init(m):
        if m.__class__.__name__.find("BatchNorm") != -1:
            nn.init.constant_(m.weight.data, 1.0)
            nn.init.constant_(m.bias.data, 0)

    generator = nn.Sequential(
        nn.ConvTranspose2d(5, 4, 4, 1, 0, bias=False), nn.BatchNorm2d(4), nn.ReLU(True),
        nn.ConvTranspose2d(4, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )  # fmt: skip
    critic = nn.Sequential(
        nn.Conv2d(1, 4, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(4, 1, 4, 1, 0, bias=False), nn.Sigmoid(),
    )  # fmt: skip
    draws.fill(generator).apply(weights_init)
    draws.fill(critic)
    criterion = nn.BCELoss()
    d_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    real, noise = draws.normal(6, 1, 8, 8), draws.normal(6, 5, 1, 1)
    label = torch.full((6,), 1.0, dtype=torch.float)
    critic.zero_grad()
    error_real = criterion(critic(real).view(-1), label)
    error_real.backward()
    fake = generator(noise)
    label.fill_(0.0)
    error_fake = criterion(critic(fake.detach()).view(-1), label)
    error_fake.backward()
    d_optimizer.step()
    generator.zero_grad()
    label.fill_(1.0)
    error_generator = criterion(critic(fake).view(-1), label)
    error_generator.backward()
    g_optimizer.step()
    return {
        "errors": [error_real.item(), error_fake.item(), error_generator.item()],
        "weights": torch.cat([p.detach().flatten() for p in generator.parameters()]),
    }

if __name__ == "__main__":
    show(main())
